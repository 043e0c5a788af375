//go:build race

package resp

import (
	"bytes"
	"strings"
	"testing"
)

func TestReleasedMemoryIsPoisoned(t *testing.T) {
	for _, size := range []int{10, 5000, 50_000} {
		r := NewReader(strings.NewReader(bulks(1, size)), Limits{})
		args, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		value := args[2]
		r.Release()
		if !bytes.Equal(value, bytes.Repeat([]byte{0xDB}, size)) {
			t.Errorf("%d bytes are still readable after Release", size)
		}
	}
}
