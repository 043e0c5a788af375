package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tiergrid/tiergrid/loadtest/compare"
)

// table is rows of cells under a head.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// text aligns the columns with blanks.
func (t *table) text(w *writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	_ = tw.Flush() // w keeps the error
}

func (t *table) markdown(w *writer) {
	rule := strings.TrimSuffix(strings.Repeat("---|", len(t.head)), "|")
	w.printf("| %s |\n|%s|\n", strings.Join(t.head, " | "), rule)
	for _, row := range t.rows {
		w.printf("| %s |\n", strings.Join(row, " | "))
	}
}

// writer keeps the first error, so that a document is written without a check
// after each line.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *writer) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(b)
	w.err = err
	return n, err
}

// spread writes the median with least and greatest.
func spread(format string, values []float64) string {
	return spreadOf(format, compare.SpreadOf(values))
}

func spreadOf(format string, s compare.Spread) string {
	return fmt.Sprintf(format+" ("+format+"–"+format+")", s.Median, s.Min, s.Max)
}

// short writes about three digits.
func short(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}

// grouped writes a whole number with a comma before each three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
