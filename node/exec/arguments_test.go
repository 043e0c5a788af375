package exec

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParseInt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64().Draw(t, "number")
		if got, ok := parseInt(strconv.AppendInt(nil, want, 10)); !ok || got != want {
			t.Fatalf("%d is read as %d, %v", want, got, ok)
		}
	})
	for _, text := range []string{"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1.0", "0x1", "1\x00",
		"9223372036854775808", "-9223372036854775809", "9999999999999999999", "10000000000000000000", "99999999999999999999"} {
		if got, ok := parseInt([]byte(text)); ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func FuzzParseInt(f *testing.F) {
	f.Add([]byte("-9223372036854775808"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := parseInt(b)
		want, err := strconv.ParseInt(string(b), 10, 64)
		canonical := err == nil && strconv.FormatInt(want, 10) == string(b)
		if ok != canonical || ok && got != want {
			t.Errorf("%q is read as %d, %v", b, got, ok)
		}
	})
}

func TestSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 20).Draw(t, "n")
		bound := rapid.OneOf(rapid.Int64Range(-25, 25), rapid.Int64())
		first, last := bound.Draw(t, "first"), bound.Draw(t, "last")
		from, to := span(first, last, n)
		if from < 0 || from > n || to < 0 || to > n {
			t.Fatalf("[%d, %d] of %d is [%d, %d)", first, last, n, from, to)
		}
		for i := range n {
			within := i >= from && i < to
			want := (first < 0 && i >= first+n || first >= 0 && i >= first) && (last < 0 && i <= last+n || last >= 0 && i <= last)
			clamped := i == 0 && last < -n // an end before the start is the start
			if within != want && !clamped {
				t.Fatalf("[%d, %d] of %d is [%d, %d)", first, last, n, from, to)
			}
		}
	})
}
