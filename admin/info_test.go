package admin

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/admin/internal/memusers"
)

func TestVersion(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	var v api.Version
	if err := json.Unmarshal([]byte(text(t, f.do(call{path: "/api/v1/version", as: "nobody"}), 200)), &v); err != nil {
		t.Fatal(err)
	}
	if want := (api.Version{Version: "1.2.3", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}); v != want {
		t.Errorf("%+v, want %+v", v, want)
	}
}

func TestACL(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	for _, c := range []struct{ as, want string }{
		{"both", `{"user":"both","roles":["monitor","observer"],"permissions":["READ","BULK_READ","MONITOR"],"rules":"`},
		{"nobody", `{"user":"nobody","roles":[],"permissions":[],"rules":"`},
	} {
		if got := text(t, f.do(call{path: "/api/v1/security/acl", as: c.as}), 200); !strings.HasPrefix(got, c.want) {
			t.Errorf("as %s: %s, want %s…", c.as, got, c.want)
		}
	}
	var acl api.ACL
	body := text(t, f.do(call{path: "/api/v1/security/acl", as: "admin"}), 200)
	if err := json.Unmarshal([]byte(body), &acl); err != nil || !strings.Contains(acl.Rules, "+@all") {
		t.Errorf("%s: %v", body, err)
	}
}

func TestDataGridACL(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	ask := func(c call) string {
		c.path = "/rest/v2/security/user/acl"
		return text(t, f.do(c), 200)
	}
	want := `{"subject":[{"name":"observer","type":"NamePrincipal"},{"name":"observer","type":"RolePrincipal"}],` +
		`"global":["READ","BULK_READ","MONITOR","ALL_READ"],` +
		`"caches":{"0":["READ","BULK_READ","MONITOR","ALL_READ"],"sessions":["READ","BULK_READ","MONITOR","ALL_READ"]}}`
	if got := ask(call{as: "observer"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, word := range []string{`"ALL"`, `"ALL_WRITE"`, `"ADMIN"`} {
		if !strings.Contains(ask(call{as: "admin"}), word) {
			t.Errorf("an admin has %s", word)
		}
		if strings.Contains(ask(call{as: "application"}), `"ALL"`) {
			t.Error("an application has not ALL")
		}
	}
	f = newFixture(t, memusers.New(), nil)
	if got := ask(call{from: "127.0.0.1:9", host: "localhost"}); !strings.Contains(got, `{"name":"default","type":"NamePrincipal"}`) {
		t.Errorf("without users: %s", got)
	}
}
