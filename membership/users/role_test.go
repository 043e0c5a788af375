package users

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/command"
	"pgregory.net/rapid"
)

func find(t *testing.T, name string) *command.Command {
	t.Helper()
	c := command.LookupFull([]byte(name))
	if c == nil {
		t.Fatalf("no command %s", name)
	}
	return c
}

func TestRolesOnCommands(t *testing.T) {
	for _, test := range []struct {
		role          Role
		allow, refuse string
	}{
		{Admin, "get set flushall shutdown acl|setuser config|set debug monitor keys eval subscribe", ""},
		{Deployer, "get set flushall flushdb swapdb keys config|set config|get client|kill client|list slowlog|get latency|reset monitor acl|whoami info",
			"acl|setuser acl|deluser acl|getuser acl|list acl|users shutdown debug replicaof failover"},
		{Application, "get set del scan keys dbsize info multi exec watch select ping hello client|setname client|id eval publish subscribe blpop lpush xadd sort restore dump command command|docs time acl|whoami memory|usage randomkey object|encoding wait",
			"flushall flushdb swapdb config|get config|set client|kill client|list client|pause slowlog|get monitor shutdown debug acl|list acl|setuser migrate latency|latest"},
		{Observer, "get mget scan keys dbsize info ttl exists type hgetall lrange zrange smembers select ping hello client|setname multi exec time command acl|whoami object|freq memory|usage sort_ro pfcount dump",
			"set del expire getex getdel lpush hset sort flushdb publish eval config|get slowlog|get monitor acl|list client|kill rename restore"},
		{Monitor, "info dbsize ping hello select client|setname time latency|latest memory|stats slowlog|len lastsave acl|whoami command",
			"get set scan keys randomkey exists ttl type object|encoding slowlog|get monitor config|get memory|usage multi client|list acl|list latency|reset dump eval subscribe"},
	} {
		p := Compile([]string{string(test.role)})
		for _, name := range strings.Fields(test.allow) {
			if !p.Command(find(t, name)) {
				t.Errorf("%s must be allowed to run %s", test.role, name)
			}
		}
		for _, name := range strings.Fields(test.refuse) {
			if p.Command(find(t, name)) {
				t.Errorf("%s must not be allowed to run %s", test.role, name)
			}
		}
	}
}

func TestRolesOnKeysAndChannels(t *testing.T) {
	const exists = command.RO
	for _, test := range []struct {
		role                              Role
		read, write, both, touch, channel bool
	}{
		{Admin, true, true, true, true, true},
		{Deployer, true, true, true, true, true},
		{Application, true, true, true, true, true},
		{Observer, true, false, false, true, false},
		{Monitor, false, false, false, false, false},
	} {
		p := Compile([]string{string(test.role)})
		got := []bool{
			p.Key([]byte("k"), command.RO|command.Access), p.Key([]byte("k"), command.OW|command.Update),
			p.Key([]byte("k"), command.RW|command.Access|command.Delete), p.Key([]byte("k"), exists), p.Channel([]byte("c")),
		}
		want := []bool{test.read, test.write, test.both, test.touch, test.channel}
		if !slices.Equal(got, want) {
			t.Errorf("%s: read, write, both, touch, channel = %v, want %v", test.role, got, want)
		}
		if p.AllKeys(command.RO|command.Access) != test.read || p.AllKeys(command.OW|command.Update) != test.write {
			t.Errorf("%s: AllKeys differs from Key", test.role)
		}
	}
}

func TestSeveralRolesAllowWhatOneOfThemAllows(t *testing.T) {
	names := []string{"admin", "deployer", "application", "observer", "monitor", "unheard-of"}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "roles")
		use := rapid.SampledFrom([]command.KeyFlag{command.RO, command.Access, command.Update, command.Access | command.Insert}).Draw(t, "use")
		sum := Compile(some)
		for _, c := range command.Commands() {
			want := c.Has(command.NoAuth)
			for _, name := range some {
				want = want || Compile([]string{name}).Command(c)
			}
			if sum.Command(c) != want {
				t.Fatalf("%v on %s = %v", some, c.Name, !want)
			}
		}
		want := false
		for _, name := range some {
			want = want || Compile([]string{name}).Key([]byte("k"), use)
		}
		if sum.Key([]byte("k"), use) != want {
			t.Fatalf("%v on a key = %v", some, !want)
		}
	})
}

func TestNoRoleAllowsOnlyLogin(t *testing.T) {
	p := Compile(nil)
	if !p.Command(find(t, "auth")) || !p.Command(find(t, "hello")) || p.Command(find(t, "ping")) || p.Key([]byte("k"), command.RO) {
		t.Error("somebody without roles may log in and nothing else")
	}
	if p.String() != "resetchannels -@all" {
		t.Errorf("rules = %q", p.String())
	}
}

func TestKeyPatterns(t *testing.T) {
	p, err := Rules{Keys: "%R~shared:* ~own:* %W~log", Channels: "&news.*"}.compile()
	if err != nil {
		t.Fatal(err)
	}
	const r, w, rw = command.Access, command.Update, command.Access | command.Update
	for _, test := range []struct {
		key  string
		use  command.KeyFlag
		want bool
	}{
		{"shared:1", r, true}, {"shared:1", w, false}, {"shared:1", rw, false}, {"shared:1", command.RO, true},
		{"own:1", rw, true}, {"log", w, true}, {"log", r, false}, {"log", rw, false}, {"other", command.RO, false},
	} {
		if got := p.Key([]byte(test.key), test.use); got != test.want {
			t.Errorf("Key(%q, %v) = %v", test.key, test.use, got)
		}
	}
	if !p.Channel([]byte("news.a")) || p.Channel([]byte("old")) {
		t.Error("channels match their own patterns")
	}
}

// Two patterns together do not give what neither gives alone, as in Redis.
func TestReadAndWriteMustComeFromOnePattern(t *testing.T) {
	p, err := Rules{Keys: "%R~* %W~*"}.compile()
	if err != nil {
		t.Fatal(err)
	}
	if p.AllKeys(command.Access|command.Update) || !p.AllKeys(command.Access) || !p.AllKeys(command.Update) {
		t.Error("%R~* %W~* must not give read and write at once")
	}
}

func TestBadRules(t *testing.T) {
	for _, r := range []Rules{
		{Commands: "+nosuch"}, {Commands: "+@nosuch"}, {Commands: "get"}, {Keys: "%~a"}, {Keys: "%X~a"}, {Keys: "%R"},
		{Commands: "+client|nosuch"},
	} {
		if _, err := r.compile(); err == nil {
			t.Errorf("%q must be refused", r.String())
		}
	}
}

func TestParseRoles(t *testing.T) {
	got, err := ParseRoles([]string{"monitor", "admin", "monitor"})
	if err != nil || !slices.Equal(got, []Role{Admin, Monitor}) {
		t.Errorf("ParseRoles = %v, %v", got, err)
	}
	_, err = ParseRoles([]string{"admin", "root"})
	if !errors.Is(err, ErrUnknownRole) || !strings.Contains(err.Error(), `"root": the roles are admin, deployer, application, observer, monitor`) {
		t.Errorf("err = %v", err)
	}
}

func TestRights(t *testing.T) {
	if got := Compile([]string{"observer"}).Rights().Names(); !slices.Equal(got, []string{"READ", "BULK_READ", "MONITOR"}) {
		t.Errorf("observer: %v", got)
	}
	sum := Compile([]string{"observer", "monitor"}).Rights()
	if !sum.Has(RightRead|RightMonitor) || sum.Has(RightWrite) {
		t.Errorf("observer and monitor: %v", sum.Names())
	}
	if Compile([]string{"deployer"}).Rights().Has(RightAdmin) || !Everything().Rights().Has(RightAdmin) {
		t.Error("only admin administers")
	}
}

func TestPermissionDoesNotAllocate(t *testing.T) {
	p, get, key := Compile([]string{"observer", "monitor"}), find(t, "get"), []byte("key")
	if n := testing.AllocsPerRun(100, func() {
		if !p.Command(get) || !p.Key(key, command.Access) || p.Channel(key) {
			t.Fatal("wrong answer")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
