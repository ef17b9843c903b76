package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// savedName is a file with the last state that the replica had. raft keeps it
// too, but tells what of its log holds only when there is a leader: until then
// a replica that was started again answers by this file.
const savedName = "state"

// loadSaved reads the state of before, nil where there is none.
func (r *Replica) loadSaved() (*State, error) {
	if r.o.Dir == "" {
		return nil, nil
	}
	f, err := os.Open(filepath.Join(r.o.Dir, savedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := Restore(f)
	if err != nil {
		// It was cut by a crash, or is of another build; there is raft's own.
		r.o.Log.Warn("catalog: the state that was saved is not used", "err", err)
		return nil, nil
	}
	return s, nil
}

// saveStates saves each state that comes until the replica closes.
func (r *Replica) saveStates() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	after := uint64(0)
	if r.saved != nil {
		after = r.saved.Version()
	}
	for after = range r.Watch(ctx, after) {
		if err := r.save(r.fsm.now.Load().state); err != nil {
			r.o.Log.Warn("catalog: the state is not saved; without a leader a restart would not know it", "version", after, "err", err)
		}
	}
}

func (r *Replica) save(s *State) error {
	name := filepath.Join(r.o.Dir, savedName)
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(s.Snapshot(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return os.Rename(name+".new", name)
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
