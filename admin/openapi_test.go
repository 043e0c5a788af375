package admin

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/admin/api"
)

var (
	pathLine   = regexp.MustCompile(`^  (/\S*):$`)
	methodLine = regexp.MustCompile(`^    (get|post|put|delete|patch|head|options|trace):$`)
	secureLine = regexp.MustCompile(`^      security: \[\]$`)
	statusLine = regexp.MustCompile(`^        "(\d{3})":`)
	reference  = regexp.MustCompile(`\$ref: "#/components/(\w+)/(\w+)"`)
	kindInText = regexp.MustCompile(`description: .*\(([a-z, -]+)\)`)
)

// described is what the description says of one route.
type described struct {
	open     bool
	statuses []string
}

// descriptionOf reads the routes of the description, which keeps one layout.
func descriptionOf(t *testing.T, doc string) map[string]described {
	t.Helper()
	_, paths, ok := strings.Cut(doc, "\npaths:\n")
	if !ok {
		t.Fatal("no paths in the description")
	}
	paths, _, _ = strings.Cut(paths, "\ncomponents:\n")
	routes := map[string]described{}
	path, route := "", ""
	for line := range strings.Lines(paths) {
		line = strings.TrimSuffix(line, "\n")
		d := routes[route]
		switch {
		case pathLine.MatchString(line):
			path, route = pathLine.FindStringSubmatch(line)[1], ""
		case methodLine.MatchString(line):
			route = strings.ToUpper(methodLine.FindStringSubmatch(line)[1]) + " " + path
			routes[route] = described{}
		case secureLine.MatchString(line):
			d.open = true
			routes[route] = d
		case statusLine.MatchString(line):
			d.statuses = append(d.statuses, statusLine.FindStringSubmatch(line)[1])
			routes[route] = d
		}
	}
	return routes
}

func TestDescriptionAndRoutesAgree(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	resp := f.do(call{path: "/api/v1/openapi.yaml"})
	if got := resp.Header.Get("Content-Type"); got != "application/yaml" {
		t.Errorf("media type %q", got)
	}
	doc := text(t, resp, 200)
	if !strings.Contains(doc, "\nopenapi: 3.1.") {
		t.Error("the description does not tell its version")
	}
	routes := descriptionOf(t, doc)
	for _, rt := range routeTable {
		d, ok := routes[rt.method+" "+rt.path]
		if !ok {
			t.Errorf("%s %s is served and not described", rt.method, rt.path)
			continue
		}
		if d.open != (rt.need == needNothing) {
			t.Errorf("%s %s: the description is wrong about the login", rt.method, rt.path)
		}
		if rt.need != needNothing && !(slices.Contains(d.statuses, "401") && slices.Contains(d.statuses, "403")) {
			t.Errorf("%s %s: the description lacks 401 or 403", rt.method, rt.path)
		}
		delete(routes, rt.method+" "+rt.path)
	}
	for route := range routes {
		t.Errorf("%s is described and not served", route)
	}
}

func TestDescriptionIsWhole(t *testing.T) {
	doc := string(description)
	_, components, _ := strings.Cut(doc, "\ncomponents:\n")
	for _, ref := range reference.FindAllStringSubmatch(doc, -1) {
		_, section, ok := strings.Cut(components, "  "+ref[1]+":\n")
		if !ok || !strings.Contains(section, "    "+ref[2]+":\n") {
			t.Errorf("%s is not defined", ref[0])
		}
	}
	var kinds []string
	for _, m := range kindInText.FindAllStringSubmatch(doc, -1) {
		kinds = append(kinds, strings.Split(m[1], ", ")...)
	}
	for _, err := range []error{
		api.ErrBadRequest, api.ErrUnknownGroup, api.ErrLogin, api.ErrForbidden, api.ErrLocalOnly,
		api.ErrNoUser, api.ErrUserExists, api.ErrTooLarge, api.ErrMediaType, api.ErrBusy, api.ErrUnavailable,
	} {
		name := strings.TrimPrefix(api.NewProblem(err).Type, "urn:tiergrid:problem:")
		if !slices.Contains(kinds, name) {
			t.Errorf("the description does not name the problem %s", name)
		}
	}
}
