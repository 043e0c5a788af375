package rules

import "strings"

// layer says what the packages of one place may import of this module. The first
// layer whose Dir matches a package decides. A package may always import what lies
// in its own internal folder, which the compiler guards.
type layer struct {
	Dir  string   // pattern, see within
	May  []string // patterns
	Test []string // more that only its tests may import
	Why  string
}

const leafWhy = "a leaf is imported from everywhere, so it imports the standard library only (exceptions are named here)"

var (
	leaves = []string{"node/resp", "node/command", "node/wire", "node/record",
		"membership/topology", "membership/users"}
	nodeTests = []string{"tiers/...", "membership/...", "node/..."}
)

// layers is the direction of imports, from the leaves up.
var layers = []layer{
	{Dir: "node/resp", Why: leafWhy},
	{Dir: "node/command", Why: leafWhy},
	{Dir: "node/wire", May: []string{"membership/topology", "node/command", "node/resp"}, Why: leafWhy + "; a message carries epochs, commands and replies"},
	{Dir: "node/record", May: []string{"membership/topology"}, Why: leafWhy + "; row keys need the slot hash"},
	{Dir: "membership/topology", Why: leafWhy},
	{Dir: "membership/users", May: []string{"node/command"}, Why: leafWhy + "; ACL rules name commands and categories"},

	{Dir: "tiers/tiertest", May: []string{"tiers"}, Why: "the conformance suite knows the contract and no implementation"},
	{Dir: "tiers", Test: []string{"tiers/tiertest", "tiers/memory", "tiers/ssd"},
		Why: "the contract of the tiers knows no slots, members, RESP, nor any implementation"},
	{Dir: "tiers/...", May: []string{"tiers"}, Test: []string{"tiers/tiertest"},
		Why: "a tier imports the contract and no other tier: the Stack composes them"},

	{Dir: "membership/...", May: []string{"membership/...", "node/command"},
		Why: "membership hands out snapshots; it knows neither storage nor sessions"},

	{Dir: "node/exec", May: []string{"node/resp", "node/command", "node/record", "membership/topology"},
		Test: nodeTests, Why: "command functions do no I/O of their own: they see the keyspace through exec.View"},
	{Dir: "node/unit", May: append([]string{"tiers", "node/exec", "node/replication"}, leaves...), Test: nodeTests,
		Why: "a unit orders writes over the contract of the tiers, whatever they are made of"},
	{Dir: "node/replication", May: append([]string{"tiers"}, leaves...), Test: nodeTests,
		Why: "replication logic is pure; it numbers and acknowledges, it does not store or serve"},
	{Dir: "node/...", May: []string{"node/...", "membership/...", "tiers/..."},
		Why: "a node stores and serves members and proxies; it never imports proxy, admin, loadtest or cmd"},

	{Dir: "proxy/...", May: append([]string{"proxy/..."}, leaves...),
		Why: "a proxy holds no data and must not link storage, gossip or consensus: it takes snapshots and its grid through interfaces, joined in cmd"},
	{Dir: "admin/...", May: []string{"admin/...", "membership/topology", "membership/users", "node/command"},
		Why: "admin is one HTTP API over interfaces that it declares itself; client, cli and console speak that API only"},
	{Dir: "loadtest/...", May: []string{"loadtest/...", "node/resp", "node/command", "admin/client"},
		Why: "load tests see a server from outside, as its users do"},

	{Dir: "cmd/rules", Why: "the rules read sources and link nothing of them"},
	{Dir: "cmd/...", May: []string{"cmd/...", "proxy/...", "node/...", "membership/...", "tiers/...", "admin/...", "loadtest/..."},
		Why: "cmd wires everything"},
}

// library says where packages of other modules may be imported.
type library struct {
	Path string   // import path or its beginning up to a slash
	In   []string // patterns of packages
	Test bool     // tests anywhere may import it too
	// TestIn are packages whose tests may, where not all may.
	TestIn []string
	Why    string
}

// libraries lists every library of the module; one without a line is refused.
var libraries = []library{
	{Path: "github.com/coocood/freecache", In: []string{"tiers/memory"}, Why: "freecache types stay in their adapter"},
	{Path: "github.com/cockroachdb/pebble/v2", In: []string{"tiers/ssd"}, TestIn: []string{"tiers", "node/..."},
		Why: "Pebble types stay in their adapter; tests above it may crash its in-memory file system"},
	{Path: "github.com/hashicorp/serf", In: []string{"membership/gossip"}, Why: "gossip is a hint behind one adapter"},
	{Path: "github.com/hashicorp/memberlist", In: []string{"membership/gossip"}, Why: "gossip is a hint behind one adapter"},
	{Path: "github.com/hashicorp", In: []string{"membership/control"}, Why: "consensus stays in its adapter"},
	{Path: "github.com/klauspost/compress", In: []string{"node/...", "tiers/..."}, Why: "payloads are packed where they are stored or sent"},
	{Path: "golang.org/x/crypto", In: []string{"membership/users"}, Why: "passwords are hashed in one place"},
	{Path: "golang.org/x/term", In: []string{"cmd/...", "admin/cli"}, Why: "only commands talk to a terminal"},
	{Path: "golang.org/x/sys", In: []string{"cmd/...", "node", "node/server", "proxy/poll", "tiers/memory", "tiers/ssd", "membership/control", "membership/transport", "loadtest/..."},
		Why: "the operating system is met at the edges only"},
	{Path: "github.com/urfave/cli/v2", In: []string{"cmd/...", "admin/cli", "loadtest"}, Why: "flags are read by commands only; parts take a Config"},
	{Path: "github.com/goccy/go-yaml", In: []string{"cmd/..."}, Why: "configuration files are read in cmd only; parts take a Config"},
	{Path: "github.com/prometheus/client_golang", In: []string{"admin/...", "cmd/..."}, Why: "parts keep plain counters; admin makes metrics of them"},
	{Path: "github.com/HdrHistogram/hdrhistogram-go", In: []string{"loadtest/..."}, Why: "histograms of clients' latencies belong to load tests"},
	{Path: "github.com/redis/go-redis/v9", In: []string{"cmd/e2e/...", "proxy/grid/redis", "loadtest/..."}, Test: true, Why: "a client library is a test tool and the driver of foreign grids, not our link"},
	{Path: "github.com/gomodule/redigo", In: []string{"cmd/e2e/..."}, Test: true, Why: "a second client, for tests"},
	{Path: "github.com/anishathalye/porcupine", In: []string{"cmd/e2e/...", "node/nodetest/..."}, Test: true, Why: "a checker of histories, for tests"},
	{Path: "github.com/cockroachdb/datadriven", In: []string{"tiers/tiertest", "node/nodetest/..."}, Test: true, Why: "for tests"},
	{Path: "pgregory.net/rapid", In: []string{"tiers/tiertest", "node/nodetest/..."}, Test: true, Why: "for tests"},
	{Path: "go.uber.org/goleak", In: []string{"tiers/tiertest", "node/nodetest/..."}, Test: true, Why: "for tests"},
}

// Imports checks every import against the layers and the libraries.
func Imports(t *Tree) []Finding {
	var out []Finding
	for _, p := range t.Packages {
		l := layerOf(p.Dir)
		if l == nil {
			out = append(out, Finding{p.Dir, "no layer names this package", "give it a line in the table of cmd/rules/imports.go"})
			continue
		}
		for _, imp := range p.Imports {
			if f := checkImport(p.Dir, l, imp); f != nil {
				out = append(out, *f)
			}
		}
	}
	return out
}

func layerOf(dir string) *layer {
	for i := range layers {
		if within(dir, []string{layers[i].Dir}) {
			return &layers[i]
		}
	}
	return nil
}

// checkImport returns nil where the import is in order.
func checkImport(dir string, l *layer, imp Import) *Finding {
	ours, isOurs := strings.CutPrefix(imp.Path, Module+"/")
	switch {
	case isOurs && mayImport(dir, l, ours, imp.Test):
		return nil
	case isOurs:
		return &Finding{imp.File, dir + " imports " + ours, l.Why}
	case !strings.Contains(strings.SplitN(imp.Path, "/", 2)[0], "."):
		return nil // the standard library
	}
	return checkLibrary(dir, imp)
}

func mayImport(dir string, l *layer, ours string, test bool) bool {
	return ours == dir || strings.HasPrefix(ours, dir+"/internal/") ||
		within(ours, l.May) || test && within(ours, l.Test)
}

func checkLibrary(dir string, imp Import) *Finding {
	for _, lib := range libraries {
		if imp.Path != lib.Path && !strings.HasPrefix(imp.Path, lib.Path+"/") {
			continue
		}
		if within(dir, lib.In) || imp.Test && (lib.Test || within(dir, lib.TestIn)) {
			return nil
		}
		return &Finding{imp.File, dir + " imports " + imp.Path,
			lib.Why + "; allowed in " + strings.Join(lib.In, ", ")}
	}
	return &Finding{imp.File, "imports " + imp.Path,
		"a library that no line of cmd/rules/imports.go places: add one with its reason, or do without"}
}
