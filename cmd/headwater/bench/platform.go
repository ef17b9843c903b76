package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
)

const region = "local"

// platform is the generated platform of a size.
func (r *run) platform(tasks int) *graphtest.Platform {
	return &graphtest.Platform{Tasks: tasks, Seed: 1, Region: region}
}

// tableID is the id of a table of a platform.
func tableID(t graphtest.Table) graph.ID { return tableName(t).ID() }

func tableName(t graphtest.Table) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: t.Namespace, Name: t.Name}
}

// built returns the folder of a server with a platform of a size in it, which
// is built if it is not there yet.
func (r *run) built(ctx context.Context, tasks int) (string, error) {
	p := r.platform(tasks)
	return r.store(ctx, fmt.Sprintf("platform-%d", tasks), tasks, func(i int) graph.Delta { return p.Delta(i, 0) })
}

// store returns the folder of a server with n deltas in it.
func (r *run) store(ctx context.Context, name string, n int, delta func(i int) graph.Delta) (dir string, err error) {
	return r.storeOf(ctx, name, region, n, delta)
}

// storeOf is store for a region.
func (r *run) storeOf(ctx context.Context, name, of string, n int, delta func(i int) graph.Delta) (dir string, err error) {
	dir = r.path(name)
	done := r.path(name, "whole")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	s, err := openStore(r.path(name, "graph"), of)
	if err != nil {
		return "", err
	}
	if err = errors.Join(r.fill(ctx, s, name, of, n, delta), s.Close()); err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, nil, 0o600)
}

func openStore(dir, of string) (*pebble.Store, error) {
	return pebble.Open(dir, pebble.Options{Region: of, Log: slog.New(slog.DiscardHandler)})
}

// fill plans and applies deltas in batches, as a region does.
func (r *run) fill(ctx context.Context, s *pebble.Store, name, of string, n int, delta func(i int) graph.Delta) error {
	const batch = 1000
	began, told := time.Now(), time.Now()
	feeder := graphtest.Feeder{Region: of}
	for from := 0; from < n; from += batch {
		deltas := make([]graph.Delta, min(batch, n-from))
		for i := range deltas {
			deltas[i] = delta(from + i)
		}
		if err := feeder.Feed(ctx, []graph.Store{s}, deltas...); err != nil {
			return err
		}
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			r.log("%s: %d of %d", name, from+len(deltas), n)
		}
	}
	r.log("%s: %d in %s", name, n, time.Since(began).Round(time.Millisecond))
	return nil
}

// opened opens the store of a folder, calls f with a view of it, and closes
// both.
func opened(ctx context.Context, dir string, f func(*pebble.Store, graph.View) error) error {
	s, err := openStore(dir+"/graph", region)
	if err != nil {
		return err
	}
	v, err := s.View(ctx, graph.At{})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	err = f(s, v)
	return errors.Join(err, v.Close(), s.Close())
}
