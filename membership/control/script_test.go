package control

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/tiergrid/tiergrid/membership/topology"
)

// The scripts in testdata propose one entry after the other and show the whole
// state after each. A command is the name of an entry; its arguments are fields,
// and settings of a policy where the entry has a change. Databases as bootstrap
// made them are shown as one range.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s, step := &State{}, 0
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			step++
			next, err := s.Apply(encoded(t, scripted(t, d), moment(step)))
			if next == nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			if restored, err := Restore(next.Snapshot()); err != nil || !bytes.Equal(restored.Snapshot(), next.Snapshot()) {
				t.Fatalf("%s: restored: %v", d.Pos, err)
			}
			s = next
			if err != nil {
				return "refused: " + err.Error() + "\n"
			}
			return show(s)
		})
	})
}

// fields are the arguments of a script's command.
type fields struct {
	t    *testing.T
	d    *datadriven.TestData
	used map[string]bool
}

func (f fields) text(key string) string {
	f.used[key] = true
	if arg, found := f.d.Arg(key); found && len(arg.Vals) > 0 {
		return arg.Vals[0]
	}
	return ""
}

func (f fields) list(key string) []string {
	f.used[key] = true
	arg, _ := f.d.Arg(key)
	return arg.Vals
}

func (f fields) flag(key string) bool {
	f.used[key] = true
	return f.d.HasArg(key)
}

func (f fields) number(key string) *int {
	text := f.text(key)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		f.t.Fatalf("%s: %s: %v", f.d.Pos, key, err)
	}
	return &n
}

func (f fields) setting(key string) *string {
	if text := f.text(key); text != "" {
		return &text
	}
	return nil
}

func (f fields) duration(key string) *time.Duration {
	text := f.text(key)
	if text == "" {
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		f.t.Fatalf("%s: %s: %v", f.d.Pos, key, err)
	}
	return &v
}

func (f fields) change() Change {
	c := Change{
		Mode: f.setting("mode"), Owners: f.number("owners"), Replication: f.setting("replication"), Reads: f.setting("reads"),
		Durability: f.setting("durability"), SyncInterval: f.duration("sync-interval"), MinISR: f.number("min-isr"),
		WhenFull: f.setting("when-full"), TTL: f.duration("ttl"),
	}
	if n := f.number("max-entry-size"); n != nil {
		c.MaxEntrySize = ptr(int64(*n))
	}
	return c
}

// scripted is the entry of a script's command.
func scripted(t *testing.T, d *datadriven.TestData) Entry {
	f := fields{t, d, map[string]bool{}}
	entry := f.entry()
	for _, arg := range d.CmdArgs {
		if !f.used[arg.Key] {
			t.Fatalf("%s: %s has no argument %s", d.Pos, d.Cmd, arg.Key)
		}
	}
	return entry
}

func (f fields) entry() Entry {
	name := f.text("name")
	switch f.d.Cmd {
	case "bootstrap":
		b := bootstrap
		b.Name, b.Default = name, f.change()
		return b
	case "register":
		return Register{Member: name, StoreID: f.text("store"), Zone: f.text("zone"), Version: f.text("version"), Clean: f.flag("clean")}
	case "create-user":
		return CreateUser{Name: name, Hash: f.text("hash"), Roles: f.list("roles")}
	case "set-password":
		return SetPassword{Name: name, Hash: f.text("hash")}
	case "set-roles":
		return SetRoles{Name: name, Roles: f.list("roles")}
	case "remove-user":
		return RemoveUser{Name: name}
	case "create-template":
		return CreateTemplate{Name: name, Change: f.change(), IfAbsent: f.flag("if-absent")}
	case "alter-template":
		return AlterTemplate{Name: name, Change: f.change()}
	case "remove-template":
		return RemoveTemplate{Name: name}
	case "create-cache":
		return CreateCache{
			Name: name, Template: f.text("template"), Change: f.change(), Database: f.number("database"),
			IfAbsent: f.flag("if-absent"), HoldsEntries: f.flag("holds-entries"),
		}
	case "alter-cache":
		return AlterCache{Name: name, Change: f.change(), HoldsEntries: f.flag("holds-entries")}
	case "remove-cache":
		return RemoveCache{Name: name}
	case "swap-databases":
		return SwapDatabases{A: *f.number("a"), B: *f.number("b")}
	}
	f.t.Fatalf("%s: no entry %s", f.d.Pos, f.d.Cmd)
	return nil
}

// show writes the whole state, a line for each thing in it.
func show(s *State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "index %d, users changed at %d\n", s.Index, s.UsersIndex)
	if s.Bootstrapped() {
		fmt.Fprintf(&b, "cluster %s %x, created %s\n", s.Cluster.Name, s.Cluster.ID, clockTime(s.Cluster.Created))
	}
	for _, m := range s.Members {
		fmt.Fprintf(&b, "member %s: store %s, incarnation %d, zone %q, version %q, clean %v, registered %s\n",
			m.Name, m.StoreID, m.Incarnation, m.Zone, m.Version, m.Clean, clockTime(m.Registered))
	}
	for _, t := range s.Templates {
		fmt.Fprintf(&b, "template %s: %s, altered %s\n", t.Name, showPolicy(t.Policy), clockTime(t.Altered))
	}
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "group %d: %s owners %d %s, %s\n", g.ID, g.Mode, g.Owners, g.Replication, showUnits(g.Units))
	}
	showCaches(&b, s.Caches)
	for _, u := range s.Users {
		fmt.Fprintf(&b, "user %s: hash %s, roles %v, created %s, altered %s\n", u.Name, u.Hash, u.Roles, clockTime(u.Created), clockTime(u.Altered))
	}
	return b.String()
}

// clockTime shows the step of the script.
func clockTime(t time.Time) string { return fmt.Sprint("at step ", int(t.Sub(moment(0)).Seconds())) }

// showPolicy leaves out what is as in the built-in defaults.
func showPolicy(p topology.Policy) string {
	var list []string
	for _, d := range Whole(p).differences(topology.DefaultPolicy()) {
		list = append(list, d.Setting+" "+d.Asked)
	}
	if len(list) == 0 {
		return "defaults"
	}
	return strings.Join(list, ", ")
}

// showUnits joins the units that are equal.
func showUnits(units []topology.Unit) string {
	first := fmt.Sprintf("%+v", units[0])
	for i, u := range units {
		if fmt.Sprintf("%+v", u) != first {
			return fmt.Sprintf("unit %d differs: %+v", i, u)
		}
	}
	u := units[0]
	return fmt.Sprintf("all units: epoch %d, primary %q, owners %v, isr %v version %d", u.Epoch, u.Primary, u.Owners, u.ISR, u.ISRVersion)
}

func showCaches(b *strings.Builder, caches []Cache) {
	for i := 0; i < len(caches); i++ {
		first := i
		for i+1 < len(caches) && pristine(caches[i]) && follows(caches[i], caches[i+1]) {
			i++
		}
		c := caches[first]
		if first == i {
			fmt.Fprintf(b, "cache %d %s: database %s, home %s, template %s, group %d, automatic %v, %s, created %s, altered %s\n", c.ID, c.Name,
				showDatabase(c.Database), showDatabase(c.Home), c.Template, c.Group, c.Automatic, showPolicy(c.Policy), clockTime(c.Created), clockTime(c.Altered))
			continue
		}
		fmt.Fprintf(b, "caches %d..%d: databases %d..%d, automatic, group %d\n", c.ID, caches[i].ID, c.Database, caches[i].Database, c.Group)
	}
}

func pristine(c Cache) bool {
	return c.Automatic && c.Name == strconv.Itoa(c.Database) && c.Home == c.Database && c.Template == DefaultTemplate
}

func follows(a, b Cache) bool {
	return pristine(b) && b.ID == a.ID+1 && b.Database == a.Database+1 && b.Group == a.Group && b.Policy == a.Policy && b.Created == a.Created
}
