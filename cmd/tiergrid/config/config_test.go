package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiergrid.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads a text as the server does.
func load(t *testing.T, text string) (Config, error) {
	t.Helper()
	c, err := Read(write(t, text))
	if err != nil {
		return c, err
	}
	if err := c.SetDefaults(); err != nil {
		return c, err
	}
	return c, c.Validate()
}

func TestEverythingHasADefault(t *testing.T) {
	c, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.RESP.Bind != "127.0.0.1:6379" || c.HTTP.Bind != "127.0.0.1:11222" || c.Node.Data != "data" {
		t.Errorf("addresses and directory: %+v", c)
	}
	memory, err := machineMemory()
	if err != nil || c.Memory.MaxSize != Size(memory/4) {
		t.Errorf("memory.max-size = %v, the machine has %d, %v", c.Memory.MaxSize, memory, err)
	}
	disk, err := diskSize(t.TempDir())
	if err != nil || disk <= 0 || c.SSD.MaxSize <= 0 {
		t.Errorf("ssd.max-size = %v, %v", c.SSD.MaxSize, err)
	}
}

func TestRead(t *testing.T) {
	c, err := load(t, `
node: {name: dg1, zone: z1, data: /data/dg}
resp: {bind: 0.0.0.0:6379, idle-timeout: 5m, slowlog-slower-than: -1ns}
memory: {max-size: 480MB, when-full: remove}
ssd: {max-size: 1.8TB}
templates: {default: {owners: 2, durability: always}}
caches:
  ledger: {database: 1, template: default, ttl: 30m, max-entry-size: 1MiB}
`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Memory.MaxSize != 480e6 || c.SSD.MaxSize != 1.8e12 || c.RESP.IdleTimeout != 5*time.Minute {
		t.Errorf("%+v", c)
	}
	ledger := c.Caches["ledger"]
	if *ledger.Database != 1 || *ledger.Policy.TTL != 30*time.Minute || *ledger.Policy.MaxEntrySize != 1<<20 {
		t.Errorf("%+v", ledger)
	}
	if *c.Templates["default"].Durability != "always" {
		t.Errorf("%+v", c.Templates)
	}
}

// TestBadConfigurations shows that every mistake is one line that names it.
func TestBadConfigurations(t *testing.T) {
	for text, want := range map[string]string{
		"memory: {max-sice: 1GB}":         `line 1: unknown key "max-sice"; did you mean "max-size"?`,
		"memori: {max-size: 1GB}":         `unknown key "memori"; did you mean "memory"?`,
		"caches: {x: {databaes: 1}}":      `unknown key "databaes"; did you mean "database"?`,
		"cluster: {name: c}":              `"cluster" belongs to grids of several members`,
		"memory: {max-size: 1 elephant}":  `is no size such as 48GB`,
		"memory: {max-size: 1kB}":         `memory.max-size: 1kB is too small`,
		"memory: {max-size: -1GB}":        `is no size such as 48GB`,
		"memory: {when-full: explode}":    `memory.when-full: "explode" is unknown, use remove`,
		"ssd: {max-size: 1MB}":            `ssd.max-size: 1MB is too small`,
		"ssd: {when-full: remove}":        `ssd.when-full: "remove" is unknown, use refuse`,
		"resp: {bind: nowhere}":           `resp.bind: "nowhere" is no address of the form host:port`,
		"http: {bind: 'localhost:99999'}": `http.bind: "localhost:99999" is no address`,
		"resp: {max-clients: -5}":         `resp.max-clients: -5 is not positive`,
		"log: {level: loud}":              `log.level: "loud" is unknown`,
		"node: {name: 'a b'}":             `node.name: "a b" is no usable name`,
	} {
		_, err := load(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "missing.yaml")); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestAMachineHoldsSoMuch(t *testing.T) {
	c, err := load(t, "memory: {max-size: 900TB}")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckMachine(); err == nil || !strings.Contains(err.Error(), "memory.max-size: 900TB is more than the") {
		t.Errorf("900TB of memory: %v", err)
	}
	c.Memory.MaxSize = 1 << 20
	if err := c.CheckMachine(); err != nil {
		t.Error(err)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1048576": 1 << 20, "48GB": 48e9, "48GiB": 48 << 30, "1.8TB": 1.8e12, "64 MiB": 64 << 20, "3kB": 3000, "7B": 7,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1", "1XB", "NaN", "1e30", "9223372036854775807"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestSizesAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size(rapid.Int64Range(0, 1<<52).Draw(t, "size"))
		if back, err := ParseSize(size.String()); err != nil || back != size {
			t.Fatalf("%d is written %s and read as %d, %v", size, size, back, err)
		}
	})
}

// TestShownConfigurationsAreReadAlike takes config show for what it promises.
func TestShownConfigurationsAreReadAlike(t *testing.T) {
	c, err := load(t, "caches: {a: {database: 3, ttl: 1h}}\nmemory: {max-size: 300MB}")
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := load(t, string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	again, err := yaml.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Errorf("shown:\n%s\nread and shown again:\n%s", text, again)
	}
}

func TestNearest(t *testing.T) {
	for key, want := range map[string]string{"max_size": "max-size", "durabilty": "durability", "bnid": "bind"} {
		if got := nearest(key); got != want {
			t.Errorf("nearest(%q) = %q, want %q", key, got, want)
		}
	}
}
