package exec

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// plainLength is the length of the longest common subsequence by its definition.
func plainLength(a, b []byte) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			} else {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			}
		}
	}
	return table[len(a)][len(b)]
}

func isSubsequence(sub, s []byte) bool {
	for _, c := range sub {
		i := bytes.IndexByte(s, c)
		if i < 0 {
			return false
		}
		s = s[i+1:]
	}
	return true
}

func TestLongestCommonSubsequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 30)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := plainLength(a, b)
		n, m := align(a, b, newMoves(a, b))
		sub := subsequence(a, b, n, m)
		if n != want || len(sub) != want || !isSubsequence(sub, a) || !isSubsequence(sub, b) {
			t.Fatalf("%q and %q have %q of %d, want a length of %d", a, b, sub, n, want)
		}
		var joined []byte // the matches, the last one first
		for _, run := range matchesOf(a, b, m, 0) {
			if !bytes.Equal(a[run.a:run.a+run.n], b[run.b:run.b+run.n]) {
				t.Fatalf("%q and %q do not match in %+v", a, b, run)
			}
			joined = append(bytes.Clone(a[run.a:run.a+run.n]), joined...)
		}
		if !bytes.Equal(joined, sub) {
			t.Fatalf("the matches are %q, want %q", joined, sub)
		}
	})
}
