package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/admin/internal/memusers"
	"github.com/tiergrid/tiergrid/membership/users"
)

func TestKnownGroupsAreTheRoles(t *testing.T) {
	if got, want := fmt.Sprint(api.KnownGroups), fmt.Sprint(users.Roles()); got != want {
		t.Errorf("groups %s, roles %s", got, want)
	}
}

// TestUsersLiveAndDie walks one user through everything that can be done.
func TestUsersLiveAndDie(t *testing.T) {
	f := newFixture(t, memusers.New("admin"), nil)
	expect := func(method, path, body string, status int, want string) {
		t.Helper()
		got := text(t, f.do(call{method: method, path: path, as: "admin", body: body}), status)
		if got != want {
			t.Errorf("%s %s: %s, want %s", method, path, got, want)
		}
	}
	resp := f.do(call{method: "POST", path: "/api/v1/users", as: "admin",
		body: `{"name":"a/b","password":"s3cret","groups":["observer"]}`})
	if got := text(t, resp, 201); got != `{"name":"a/b","groups":["observer"]}` {
		t.Error(got)
	}
	at := resp.Header.Get("Location")
	if at != "/api/v1/users/a%2Fb" {
		t.Errorf("Location %q", at)
	}
	expect("GET", at, "", 200, `{"name":"a/b","groups":["observer"]}`)
	expect("GET", "/api/v1/users", "", 200, `{"users":[{"name":"a/b","groups":["observer"]},{"name":"admin","groups":["admin"]}]}`)
	expect("PUT", at+"/groups", `{"groups":["monitor","application"]}`, 200, `{"name":"a/b","groups":["monitor","application"]}`)
	expect("PUT", at+"/groups", `{"groups":[]}`, 200, `{"name":"a/b","groups":[]}`)
	expect("GET", at, "", 200, `{"name":"a/b","groups":[]}`)
	expect("PUT", at+"/password", `{"password":"n3w"}`, 204, "")
	if got := f.store.Password("a/b"); got != "n3w" {
		t.Errorf("password %q", got)
	}
	expect("DELETE", at, "", 204, "")
	problem(t, f.do(call{path: at, as: "admin"}), 404, "no-such-user")

	log := f.log.String()
	for _, want := range []string{"user created", "groups changed", "password changed", "user removed", "by=admin"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not tell %q", want)
		}
	}
	for _, secret := range []string{"s3cret", "n3w"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds a password")
		}
	}
}

func TestCreateUserWithoutGroups(t *testing.T) {
	f := newFixture(t, memusers.New("admin"), nil)
	resp := f.do(call{method: "POST", path: "/api/v1/users", as: "admin", body: `{"name":"x","password":"x"}`})
	if got := text(t, resp, 201); got != `{"name":"x","groups":[]}` {
		t.Error(got)
	}
	if got := text(t, f.do(call{path: "/api/v1/users/x", as: "admin"}), 200); got != `{"name":"x","groups":[]}` {
		t.Error(got)
	}
}

func TestBadUserRequests(t *testing.T) {
	const all, one = "/api/v1/users", "/api/v1/users/admin"
	long := strings.Repeat("x", 70<<10)
	for _, c := range []struct {
		method, path, media, body string
		status                    int
		kind, detail              string
	}{
		{"POST", all, "", `{"name":"admin","password":"p"}`, 409, "user-exists", "user admin"},
		{"POST", all, "", `{"name":"","password":"p"}`, 400, "bad-request", "name"},
		{"POST", all, "", `{"name":"a b","password":"p"}`, 400, "bad-request", "spaces"},
		{"POST", all, "", `{"name":"a:b","password":"p"}`, 400, "bad-request", "colon"},
		{"POST", all, "", `{"name":"x","password":""}`, 400, "bad-request", "password"},
		{"POST", all, "", `{"name":"x","password":"p","groups":["boss"]}`, 400, "unknown-group", `"boss"; known groups: admin, deployer, application, observer, monitor`},
		{"POST", all, "", `{"name":"x","pass":"p"}`, 400, "bad-request", `unknown field "pass"`},
		{"POST", all, "", `{"name":"x"`, 400, "bad-request", "body"},
		{"POST", all, "", `{"name":"x","password":"p"} {}`, 400, "bad-request", "body"},
		{"POST", all, "", `{"name":"x","password":"p"} x`, 400, "bad-request", "body"},
		{"POST", all, "", `[]`, 400, "bad-request", "body"},
		{"POST", all, "text/plain", `{"name":"x","password":"p"}`, 415, "media-type", "application/json"},
		{"POST", all, "a/b/c", `{"name":"x","password":"p"}`, 415, "media-type", "application/json"},
		{"POST", all, "", `{"name":"` + long + `","password":"p"}`, 413, "too-large", "65536 bytes"},
		{"POST", all, "", `{"name":"x","password":"p"}` + strings.Repeat(" ", 70<<10), 413, "too-large", "65536 bytes"},
		{"PUT", one + "/password", "", `{"password":""}`, 400, "bad-request", "password"},
		{"PUT", one + "/password", "", `{}`, 400, "bad-request", "password"},
		{"PUT", one + "/password", "", `7`, 400, "bad-request", "body"},
		{"PUT", one + "/groups", "", `{"groups":["boss"]}`, 400, "unknown-group", "boss"},
		{"PUT", one + "/groups", "", `{}`, 400, "bad-request", "groups"},
		{"PUT", one + "/groups", "", `"x"`, 400, "bad-request", "body"},
		{"PUT", "/api/v1/users/nemo/groups", "", `{"groups":[]}`, 404, "no-such-user", "nemo"},
		{"PUT", "/api/v1/users/nemo/password", "", `{"password":"x"}`, 404, "no-such-user", "nemo"},
		{"GET", "/api/v1/users/nemo", "", "", 404, "no-such-user", "nemo"},
		{"DELETE", "/api/v1/users/nemo", "", "", 404, "no-such-user", "nemo"},
	} {
		t.Run(fmt.Sprintf("%s %s %.40s", c.method, c.path, c.body), func(t *testing.T) {
			f := newFixture(t, memusers.New("admin"), nil)
			resp := f.do(call{method: c.method, path: c.path, as: "admin", media: c.media, body: c.body})
			if detail := problem(t, resp, c.status, c.kind); !strings.Contains(detail, c.detail) {
				t.Errorf("detail %q, want %q in it", detail, c.detail)
			}
			if all, _ := f.store.Users(t.Context()); len(all) != 1 || f.store.Password("admin") != "admin" {
				t.Error("a refused request changed the users")
			}
		})
	}
}

func TestStoreFailures(t *testing.T) {
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/v1/users", ""},
		{"GET", "/api/v1/users/x", ""},
		{"POST", "/api/v1/users", `{"name":"x","password":"p"}`},
		{"PUT", "/api/v1/users/x/password", `{"password":"p"}`},
		{"PUT", "/api/v1/users/x/groups", `{"groups":[]}`},
		{"DELETE", "/api/v1/users/x", ""},
	} {
		f := newFixture(t, memusers.New(), nil)
		f.store.Fail(api.ErrUnavailable)
		resp := f.do(call{method: c.method, path: c.path, body: c.body, from: "127.0.0.1:9", host: "localhost"})
		problem(t, resp, 503, "unavailable")
	}
}

// FuzzUserBodies holds that no body does more than be refused.
func FuzzUserBodies(f *testing.F) {
	for _, body := range []string{
		`{"name":"x","password":"p","groups":["admin"]}`, `{"groups":[]}`, `{"password":"p"}`, `{"name":1}`, `[`, "null", "{}{}",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, c := range []call{
			{method: "POST", path: "/api/v1/users"},
			{method: "PUT", path: "/api/v1/users/admin/password"},
			{method: "PUT", path: "/api/v1/users/admin/groups"},
		} {
			s := newFixture(t, memusers.New("admin"), nil)
			c.as, c.body = "admin", string(body)
			if status := s.do(c).StatusCode; status >= 500 {
				t.Errorf("%s %s %q: status %d", c.method, c.path, body, status)
			}
		}
	})
}
