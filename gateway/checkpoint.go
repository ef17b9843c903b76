package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"headwater/graph"
	"headwater/region/bus"
)

// A checkpoint is what a follower goes on from after a restart: without it, it
// would have the region look through all of its names.
type checkpoint struct {
	Format int        `json:"format"`
	Filter bus.Filter `json:"filter"`
	Cursor bus.Cursor `json:"cursor"`
	// Names are namespace and name of each.
	Names [][2]string `json:"names"`
}

const (
	checkpointFormat = 1
	checkpointEvery  = time.Minute
)

// file is where the checkpoint of the region is; empty: nowhere.
func (f *follower) file() string {
	if f.g.o.Dir == "" {
		return ""
	}
	return filepath.Join(f.g.o.Dir, "border", url.PathEscape(f.region.Name)+".json")
}

// restore takes up the checkpoint, if there is one of the same filter.
func (f *follower) restore() error {
	name := f.file()
	if name == "" {
		return nil
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var c checkpoint
	if err := json.Unmarshal(b, &c); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Format != checkpointFormat || !covers(c.Filter, f.filter) {
		return nil
	}
	f.names = make([]graph.Name, len(c.Names))
	for i, n := range c.Names {
		f.names[i] = graph.Name{Kind: graph.DataStoreKind, Region: f.region.Name, Namespace: n[0], Name: n[1]}
	}
	f.filter, f.cursor, f.saved, f.whole = c.Filter, c.Cursor, c.Cursor, true
	f.index.Add(f.names...)
	return nil
}

// save writes a checkpoint if there is something new: whole or not at all.
func (f *follower) save() error {
	f.mu.Lock()
	c := checkpoint{checkpointFormat, f.filter, f.cursor, make([][2]string, len(f.names))}
	for i, n := range f.names {
		c.Names[i] = [2]string{n.Namespace, n.Name}
	}
	name, due := f.file(), f.whole && f.cursor != f.saved
	f.mu.Unlock()
	if name == "" || !due {
		return nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := name + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	if err := os.Rename(tmp, name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved = c.Cursor
	return nil
}

// saveNowAndThen saves until stop closes, and then once more.
func (f *follower) saveNowAndThen(stop <-chan struct{}) {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for stopped := false; !stopped; {
		select {
		case <-tick.C:
		case <-stop:
			stopped = true
		}
		if err := f.save(); err != nil {
			f.g.o.Log.Warn("write what is known of a region's names; a restart will take longer", "region", f.region.Name, "err", err)
		}
	}
}
