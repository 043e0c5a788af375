package compare

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ErrCSV is returned when redis-benchmark prints something else than its CSV.
var ErrCSV = errors.New("no CSV of redis-benchmark")

// Row is one line of redis-benchmark --csv. Latencies are milliseconds.
type Row struct {
	Test string  `json:"test"`
	RPS  float64 `json:"rps"`
	Avg  float64 `json:"avg_ms"`
	Min  float64 `json:"min_ms"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	P99  float64 `json:"p99_ms"`
	Max  float64 `json:"max_ms"`
}

// ParseCSV reads all of redis-benchmark --csv: a head that names the columns,
// then a line for each test. Columns may come in any order and further ones are
// passed over; a missing one is an error.
func ParseCSV(r io.Reader) ([]Row, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCSV, err)
	}
	if len(lines) < 2 {
		return nil, fmt.Errorf("%w: %d lines", ErrCSV, len(lines))
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	rows := make([]Row, 0, len(lines)-1)
	for _, line := range lines[1:] {
		row, err := parseRow(column, line)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCSV, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func parseRow(column map[string]int, line []string) (row Row, err error) {
	i, ok := column["test"]
	if !ok {
		return Row{}, errors.New("no column test")
	}
	row.Test = line[i]
	for name, dst := range map[string]*float64{
		"rps": &row.RPS, "avg_latency_ms": &row.Avg, "min_latency_ms": &row.Min,
		"p50_latency_ms": &row.P50, "p95_latency_ms": &row.P95,
		"p99_latency_ms": &row.P99, "max_latency_ms": &row.Max,
	} {
		i, ok := column[name]
		if !ok {
			return Row{}, fmt.Errorf("no column %s", name)
		}
		*dst, err = strconv.ParseFloat(strings.TrimSpace(line[i]), 64)
		if err != nil || math.IsNaN(*dst) || math.IsInf(*dst, 0) || *dst < 0 {
			return Row{}, fmt.Errorf("column %s is %q", name, line[i])
		}
	}
	return row, nil
}
