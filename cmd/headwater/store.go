package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"headwater/graph/nebula"
	"headwater/graph/pebble"
)

// nebulaOptions says where in NebulaGraph the large rows of the graph are; ok
// is false where all of it is in the data folder.
func (c *config) nebulaOptions() (o nebula.Options, ok bool, err error) {
	if c.Store == "" {
		return o, false, nil
	}
	if o, err = nebula.ParseURL(c.Store); err != nil {
		return o, false, fmt.Errorf("store: %w", err)
	}
	o.Region, o.Init = c.Region, bool(c.Init)
	return o, true, nil
}

// storeName is what may be told of where the graph is: not who asks for it.
func storeName(o *nebula.Options) string {
	return nebula.Scheme + strings.Join(o.Addresses, ",") + "/" + o.Space
}

// openStore opens the graph. far is nil where all of it is in the data folder.
func openStore(ctx context.Context, c *config, log *slog.Logger) (store *pebble.Store, far *nebula.Store, err error) {
	dir := filepath.Join(c.Data, "graph")
	folder := pebble.Options{Region: c.Region, CacheBytes: int64(c.Cache) / 3 * 2, FactsBytes: int64(c.Cache) / 3, TopologyBytes: int64(c.FlowMemory), Log: log}
	o, ok, err := c.nebulaOptions()
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		store, err = pebble.Open(dir, folder)
		return store, nil, err
	}
	// The folder has less to keep at hand, and flows that are not in memory are
	// kept besides.
	folder.CacheBytes = int64(c.Cache) / 3
	o.Folder, o.CacheBytes, o.TopologyBytes, o.Log = folder, int64(c.Cache)/3, int64(c.FlowMemory), log
	if o.Init {
		log.Info("the space is made where it is not there; NebulaGraph takes up to half a minute until it can be used", "store", storeName(&o))
	}
	if far, err = nebula.Open(ctx, dir, o); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", storeName(&o), err)
	}
	log.Info("the large part of the graph is in NebulaGraph", "store", storeName(&o))
	return far.Store, far, nil
}
