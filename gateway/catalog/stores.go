package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// stores are what raft keeps.
type stores struct {
	log       raft.LogStore
	votes     raft.StableStore
	snapshots raft.SnapshotStore
	close     func() error
}

// openStores opens the folder, or memory where there is none.
func openStores(dir string, noSync bool, l hclog.Logger) (*stores, error) {
	if dir == "" {
		m := raft.NewInmemStore()
		return &stores{m, m, raft.NewInmemSnapshotStore(), func() error { return nil }}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the catalog's folder: %w", err)
	}
	file := filepath.Join(dir, "raft.db")
	bolt, err := raftboltdb.New(raftboltdb.Options{Path: file, BoltOptions: &bbolt.Options{Timeout: time.Second}, NoSync: noSync})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s is in use by another process", file)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, 2, l)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the catalog's snapshots in %s: %w", dir, err), bolt.Close())
	}
	return &stores{bolt, bolt, snapshots, bolt.Close}, nil
}
