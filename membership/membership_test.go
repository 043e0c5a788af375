package membership

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/tiergrid/tiergrid/membership/control"
	"github.com/tiergrid/tiergrid/membership/topology"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ptr[T any](v T) *T { return &v }

func config(data string) Config {
	return Config{
		Data: data, Member: "dg1", StoreID: "s1",
		Logger: slog.New(slog.DiscardHandler),
	}
}

func start(t *testing.T, cfg Config) *Membership {
	t.Helper()
	m, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func noEntries(topology.CacheID) bool { return false }

func TestFirstAndLaterStarts(t *testing.T) {
	data := t.TempDir()
	var cluster string
	for n := uint64(1); n <= 3; n++ {
		m := start(t, config(data))
		table := m.Table()
		if n == 1 {
			cluster = table.ClusterID
		}
		if table.ClusterID != cluster || len(cluster) != 32 || table.HashKey == [16]byte{} {
			t.Errorf("start %d: cluster %q", n, table.ClusterID)
		}
		u := table.Group(table.Database(15).Group).Units[topology.Partitions-1]
		if u.Primary != "dg1" || uint64(u.Epoch) != n || m.Member().Incarnation != n {
			t.Errorf("start %d: unit %+v, member %+v", n, u, m.Member())
		}
		if _, err := Open(context.Background(), config(data)); !errors.Is(err, control.ErrLocked) {
			t.Errorf("a second process: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUsersMadeOffline(t *testing.T) {
	data := t.TempDir()
	c, err := control.Open(control.Config{Dir: ControlDir(data)})
	if err != nil {
		t.Fatal(err)
	}
	const hash = "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$7hWvNiljwqTMRSktW+ynzjhpmFwd4XO2rBpnFxNPRhU"
	if _, err := c.Propose(context.Background(), control.CreateUser{Name: "developer", Hash: hash, Roles: []string{"admin"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if m := start(t, config(data)); m.Users().User([]byte("developer")) == nil || m.Table().Database(0) == nil {
		t.Error("the server does not know the user that was made before its first start")
	}
}

func TestForeignDirectories(t *testing.T) {
	data := t.TempDir()
	start(t, config(data)).Close()
	for _, test := range []struct {
		change func(*Config)
		err    error
	}{
		{func(c *Config) { c.Member = "dg2" }, ErrForeignMember},
		{func(c *Config) { c.StoreID = "s2" }, control.ErrForeignStore},
		{func(c *Config) { c.StoreID = "" }, control.ErrInvalid},
	} {
		cfg := config(data)
		test.change(&cfg)
		if _, err := Open(context.Background(), cfg); !errors.Is(err, test.err) {
			t.Errorf("Open = %v, want %v", err, test.err)
		}
	}
	start(t, config(data)) // a refused start leaves the directory free
}

func TestNoRandomBytesNoGrid(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Random = io.LimitReader(rand.Reader, 20)
	if _, err := Open(context.Background(), cfg); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Open = %v", err)
	}
}

// The configuration of the reference workload, at the first start and later.
func TestConfigure(t *testing.T) {
	data := t.TempDir()
	templates := map[string]control.Change{"default": {Owners: ptr(2)}, "sessions": {Owners: ptr(3)}}
	resp := Cache{Database: ptr(0), Change: control.Change{Mode: ptr(topology.ModeReplicated), Replication: ptr(topology.ReplicationAsync)}}
	caches := map[string]Cache{"respCache": resp, "s": {Template: "sessions"}}
	var id topology.CacheID
	for n := range 2 {
		m := start(t, config(data))
		holds := func(topology.CacheID) bool { return n > 0 }
		if err := m.Configure(context.Background(), templates, caches, holds); err != nil {
			t.Fatalf("start %d: %v", n, err)
		}
		c := m.Table().Database(0)
		if n == 0 {
			id = c.ID
		}
		if c.Name != "respCache" || c.ID != id || c.Policy.Mode != topology.ModeReplicated || m.Table().CacheNamed("s").Policy.Owners != 3 {
			t.Errorf("start %d: database 0 is %+v", n, c)
		}
		m.Close()
	}
	m := start(t, config(data))
	resp.Change.Replication = ptr(topology.ReplicationSync)
	err := m.Configure(context.Background(), nil, map[string]Cache{"respCache": resp}, noEntries)
	if !errors.Is(err, control.ErrDifferent) {
		t.Errorf("other values: %v", err)
	}
}

func TestConfigureKeepsEntries(t *testing.T) {
	m := start(t, config(t.TempDir()))
	five := m.Table().Database(5).ID
	holds := func(id topology.CacheID) bool { return id == five }
	ask := map[string]Cache{"five": {Database: ptr(5), Change: control.Change{Owners: ptr(3)}}}
	if err := m.Configure(context.Background(), nil, ask, holds); !errors.Is(err, control.ErrHoldsEntries) {
		t.Errorf("Configure = %v", err)
	}
	ask = map[string]Cache{"five": {Database: ptr(5)}}
	if err := m.Configure(context.Background(), nil, ask, holds); err != nil || m.Table().CacheNamed("five").ID != five {
		t.Errorf("Configure = %v, database 5 is %+v", err, m.Table().Database(5))
	}
	if err := m.Configure(context.Background(), map[string]control.Change{"a b": {}}, nil, noEntries); !errors.Is(err, control.ErrInvalid) {
		t.Errorf("Configure = %v", err)
	}
}

func TestChangesAreAnnounced(t *testing.T) {
	m := start(t, config(t.TempDir()))
	changed, before := m.Changed(), m.Table()
	if _, err := m.Control().Propose(context.Background(), control.SwapDatabases{A: 0, B: 1}); err != nil {
		t.Fatal(err)
	}
	<-changed
	if m.Table().Database(0).ID != before.Database(1).ID || before.Database(0).Name != "0" {
		t.Error("the new table shows the swap, the old one does not")
	}
	select {
	case <-m.Failed():
		t.Error("nothing has failed")
	default:
	}
}

// TestDataWithoutItsControlState: a store that holds data is not taken for that of
// a new grid, whose users and order of keys would be others.
func TestDataWithoutItsControlState(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Holds = true
	if m, err := Open(t.Context(), cfg); !errors.Is(err, ErrControlLost) {
		if err == nil {
			m.Close()
		}
		t.Fatalf("opened with %v, want ErrControlLost", err)
	}
	cfg.Holds = false
	m, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Holds = true // as at every later start
	if m, err = Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
