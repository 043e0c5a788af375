package suites

import (
	"strings"
	"testing"
)

var programs = Programs{Tiergrid: "bin/tiergrid", Redis: "redis-server"}

func TestServerSuites(t *testing.T) {
	for _, quick := range []bool{false, true} {
		s := NewServer(programs, quick)
		if err := s.Compare.Validate(); err != nil {
			t.Errorf("quick %v: %v", quick, err)
		}
		if s.Compare.Pairs < 5 && !quick {
			t.Errorf("%d pairs are too few for a median", s.Compare.Pairs)
		}
		for _, h := range s.Holding {
			if bytes := int64(h.Keys) * int64(h.Value); bytes < 10*(h.Limit-300*mB)*100/115-int64(10*h.Value) {
				t.Errorf("%s: %d bytes are not ten times the memory tier", h.Name, bytes)
			}
		}
	}
}

// TestNeeds spells out what one server is judged by.
func TestNeeds(t *testing.T) {
	want := map[string]float64{
		"SET 100 B, P1": 0.95, "GET 100 B, P1": 0.95, "SET 100 B, P16": 0.6, "GET 100 B, P16": 0.8,
		"GET 120 kB": 1.0, "SET 120 kB": 0.7, "GET 120 kB, most on SSD": 0, "SET 120 kB, most on SSD": 0,
	}
	s := NewServer(programs, false)
	found := 0
	for _, g := range s.Compare.Groups {
		for _, test := range g.Tests {
			if need, ok := want[test.Name]; !ok || need != test.Need {
				t.Errorf("%s needs %v, want %v", test.Name, test.Need, need)
			}
			found++
		}
	}
	if found != len(want) {
		t.Errorf("%d tests, want %d", found, len(want))
	}
	limits := []int64{1_534_803_097, 608_700_774}
	for i, h := range s.Holding {
		if h.Limit != limits[i] {
			t.Errorf("%s: limit %d, want %d", h.Name, h.Limit, limits[i])
		}
	}
	if i := s.Idling[0]; i.Connections != 10_000 || i.Limit != 20_000 {
		t.Errorf("idle: %+v", i)
	}
}

func TestContestants(t *testing.T) {
	a := programs.tiergrid("64MiB")
	conf := a.Files["tiergrid.yaml"]
	for _, part := range []string{`data: "{dir}/data"`, "127.0.0.1:{port}", "127.0.0.1:{http}", "max-size: 64MiB"} {
		if !strings.Contains(conf, part) {
			t.Errorf("no %s in:\n%s", part, conf)
		}
	}
	if got := strings.Join(programs.redis().Args, " "); !strings.Contains(got, "--appendonly yes --appendfsync everysec --save ") {
		t.Errorf("redis: %s", got)
	}
}

func TestOnly(t *testing.T) {
	s := NewServer(programs, false)
	if all := s.Only(""); len(all.Compare.Groups) != 3 || len(all.Holding) != 2 || len(all.Idling) != 1 {
		t.Errorf("all: %+v", all)
	}
	p16 := s.Only("get 100 b, p16")
	if len(p16.Compare.Groups) != 1 || len(p16.Compare.Groups[0].Tests) != 1 || len(p16.Holding)+len(p16.Idling) != 0 {
		t.Errorf("one test: %+v", p16)
	}
	if len(s.Compare.Groups[0].Tests) != 4 {
		t.Error("the suite itself was changed")
	}
	if none := s.Only("nothing of this name"); !none.Empty() || s.Empty() {
		t.Errorf("none: %+v", none)
	}
}
