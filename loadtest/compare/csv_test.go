package compare

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestParseCSV(t *testing.T) {
	f, err := os.Open("testdata/redis-benchmark.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := ParseCSV(f)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	want := Row{Test: "GET", RPS: 89686.09, Avg: 0.294, Min: 0.088, P50: 0.287, P95: 0.391, P99: 0.479, Max: 1.271}
	if rows[1] != want {
		t.Errorf("row %+v, want %+v", rows[1], want)
	}
	if rows[2].Test != "LRANGE_100 (first 100 elements)" || rows[2].Max != 3.519 {
		t.Errorf("row %+v", rows[2])
	}
}

func TestParseCSVByName(t *testing.T) {
	const in = "max_latency_ms,new,rps,test,avg_latency_ms,min_latency_ms,p50_latency_ms,p95_latency_ms,p99_latency_ms\n8,x,1,SET,2,3,4,5,6\n"
	rows, err := ParseCSV(strings.NewReader(in))
	if want := (Row{"SET", 1, 2, 3, 4, 5, 6, 8}); err != nil || len(rows) != 1 || rows[0] != want {
		t.Errorf("%+v, %v, want %+v", rows, err, want)
	}
}

func TestParseCSVRefuses(t *testing.T) {
	const head = "test,rps,avg_latency_ms,min_latency_ms,p50_latency_ms,p95_latency_ms,p99_latency_ms,max_latency_ms\n"
	for _, in := range []string{
		"", head, "WARNING: something\n",
		head + "SET,1,2,3,4,5,6\n",
		head + "SET,1,2,3,4,5,6,x\n",
		head + "SET,nan,2,3,4,5,6,7\n",
		head + "SET,inf,2,3,4,5,6,7\n",
		head + "SET,-1,2,3,4,5,6,7\n",
		strings.Replace(head, "p95", "p96", 1) + "SET,1,2,3,4,5,6,7\n",
		strings.Replace(head, "test", "name", 1) + "SET,1,2,3,4,5,6,7\n",
	} {
		if rows, err := ParseCSV(strings.NewReader(in)); !errors.Is(err, ErrCSV) {
			t.Errorf("%q: %+v, %v", in, rows, err)
		}
	}
}

func FuzzParseCSV(f *testing.F) {
	b, err := os.ReadFile("testdata/redis-benchmark.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add("test,rps\n\"a")
	f.Fuzz(func(t *testing.T, in string) {
		rows, err := ParseCSV(strings.NewReader(in))
		if (err == nil) != (len(rows) > 0) {
			t.Errorf("%d rows and %v", len(rows), err)
		}
		for _, r := range rows {
			if !(r.RPS >= 0 && r.Max >= 0) {
				t.Errorf("row %+v", r)
			}
		}
	})
}
