package main

import (
	"github.com/tiergrid/tiergrid/cmd/tiergrid/config"
	"github.com/tiergrid/tiergrid/membership"
	"github.com/tiergrid/tiergrid/membership/control"
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
