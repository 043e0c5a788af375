package control

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

// someHash is a password hash that is quick to read; nobody checks it here.
const someHash = "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$7hWvNiljwqTMRSktW+ynzjhpmFwd4XO2rBpnFxNPRhU"

var clusterID = [16]byte{0xc1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

var bootstrap = Bootstrap{ClusterID: clusterID, Name: "cluster", HashKey: [16]byte{0xaa, 15: 0xbb}}

func ptr[T any](v T) *T { return &v }

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func moment(n int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(n)*1000).UTC() }

func encoded(t testing.TB, entry Entry, at time.Time) []byte {
	t.Helper()
	b, err := encodeEntry(entry, at)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// applied is the state after entries that must all be accepted.
func applied(t testing.TB, entries ...Entry) *State {
	t.Helper()
	s := &State{}
	for i, entry := range entries {
		next, err := s.Apply(encoded(t, entry, moment(i)))
		if err != nil {
			t.Fatalf("%T: %v", entry, err)
		}
		s = next
	}
	return s
}

// open opens a control state over memory files.
func open(t testing.TB, files *memoryFiles, entries int) (*Control, error) {
	t.Helper()
	c, err := Open(Config{Now: func() time.Time { return moment(0) }, Logger: silent(), SnapshotEntries: entries, files: files})
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

func mustOpen(t testing.TB, files *memoryFiles, entries int) *Control {
	t.Helper()
	c, err := open(t, files, entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func propose(t testing.TB, c *Control, entries ...Entry) {
	t.Helper()
	for _, entry := range entries {
		if _, err := c.Propose(context.Background(), entry); err != nil {
			t.Fatalf("%T: %v", entry, err)
		}
	}
}

// golden compares bytes with a hex dump in testdata, and returns what is there.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".hex")
	if *update {
		var b bytes.Buffer
		for at := 0; at < len(got); at += 32 {
			b.WriteString(hex.EncodeToString(got[at:min(at+32, len(got))]) + "\n")
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is written differently than before:\n%x\nwant\n%x", name, got, want)
	}
	return want
}

// samples is one entry of each kind, in an order that a state accepts.
func samples() []Entry {
	return []Entry{
		CreateUser{Name: "developer", Hash: someHash, Roles: []string{"admin", "observer"}},
		bootstrap,
		Register{Member: "dg1", StoreID: "store-1", Zone: "z1", Version: "0.1.0", Clean: true},
		SetPassword{Name: "developer", Hash: someHash},
		SetRoles{Name: "developer", Roles: []string{"deployer"}},
		CreateTemplate{Name: "sessions", Change: Change{TTL: ptr(30 * time.Minute), Owners: ptr(3)}, IfAbsent: true},
		AlterTemplate{Name: "sessions", Change: Change{Durability: ptr(topology.DurabilityAlways)}},
		CreateCache{
			Name: "respCache", Template: "sessions", Database: ptr(0), IfAbsent: true,
			Change: Change{Mode: ptr(topology.ModeReplicated), Replication: ptr(topology.ReplicationAsync)},
		},
		CreateCache{Name: "plain"},
		AlterCache{Name: "respCache", Change: Change{MaxEntrySize: ptr(int64(1 << 20))}, HoldsEntries: true},
		RemoveCache{Name: "plain"},
		SwapDatabases{A: 0, B: 3},
		RemoveTemplate{Name: "sessions"},
		RemoveUser{Name: "developer"},
	}
}
