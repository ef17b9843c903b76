package catalog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// savedName is a file with the last state that the replica had. raft keeps it
// too, but tells what of its log holds only when there is a leader: until then a
// replica that was started again answers by this file. It is written before a
// state is shown, so that no answer is by an older state than one before.
const savedName = "state"

// loadSaved reads the state of before, if there is one.
func (r *Replica) loadSaved() error {
	if r.o.Dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(r.o.Dir, savedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.saved, err = Restore(bytes.NewReader(b)); err != nil {
		// It was cut by a crash, or is of another build; there is raft's own.
		r.o.Log.Warn("catalog: the state that was saved is not used", "err", err)
		r.saved = nil
	}
	return nil
}

// save saves a state that is about to be shown, unless a newer one was saved
// before.
func (r *Replica) save(s *State) {
	if r.o.Dir == "" || r.saved != nil && s.Version() <= r.saved.Version() {
		return
	}
	var b bytes.Buffer
	name := filepath.Join(r.o.Dir, savedName)
	err := s.Snapshot(&b)
	if err == nil {
		err = os.WriteFile(name+".new", b.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		r.o.Log.Warn("catalog: the state is not saved; without a leader a restart would not know it", "version", s.Version(), "err", err)
	}
}

// state returns the newest state that is known: what was saved, until raft has
// come as far.
func (r *Replica) state() *State {
	s := r.fsm.now.Load().state
	if r.saved != nil && s.Version() < r.saved.Version() {
		return r.saved
	}
	return s
}
