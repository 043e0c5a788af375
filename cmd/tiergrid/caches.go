package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"

	"github.com/tiergrid/tiergrid/cmd/tiergrid/config"
	"github.com/tiergrid/tiergrid/membership"
	"github.com/tiergrid/tiergrid/membership/control"
	"github.com/tiergrid/tiergrid/membership/topology"
)

// change is what a configured template or cache asks for.
func change(t config.Template) control.Change {
	c := control.Change{
		Mode: t.Mode, Owners: t.Owners, Replication: t.Replication, Reads: t.Reads, Durability: t.Durability,
		SyncInterval: t.SyncInterval, MinISR: t.MinISR, WhenFull: t.WhenFull, TTL: t.TTL,
	}
	if t.MaxEntrySize != nil {
		size := int64(*t.MaxEntrySize)
		c.MaxEntrySize = &size
	}
	return c
}

func templates(c *config.Config) map[string]control.Change {
	list := make(map[string]control.Change, len(c.Templates))
	for name, t := range c.Templates {
		list[name] = change(t)
	}
	return list
}

func caches(c *config.Config) map[string]membership.Cache {
	list := make(map[string]membership.Cache, len(c.Caches))
	for name, cache := range c.Caches {
		list[name] = membership.Cache{Template: cache.Template, Database: cache.Database, Change: change(cache.Policy)}
	}
	return list
}

// checkCaches checks templates and caches by making them in a control state that
// is then thrown away.
func checkCaches(ctx context.Context, cfg *config.Config) error {
	dir, err := os.MkdirTemp("", "tiergrid-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m, err := membership.Open(ctx, membership.Config{
		Data: dir, Member: cfg.Node.Name, StoreID: "none", Zone: cfg.Node.Zone,
		Default: change(cfg.Templates["default"]), Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	empty := func(topology.CacheID) bool { return false }
	return errors.Join(m.Configure(ctx, templates(cfg), caches(cfg), empty), m.Close())
}
