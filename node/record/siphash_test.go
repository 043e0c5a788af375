package record

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

func TestSipHashVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/siphash.txt")
	if err != nil {
		t.Fatal(err)
	}
	var key [16]byte
	var message []byte
	for i := range key {
		key[i] = byte(i)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		want := strings.TrimSpace(line)
		got := hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, sipHash(&key, message)))
		if got != want {
			t.Errorf("hash of %d bytes is %s, want %s", len(message), got, want)
		}
		message = append(message, byte(len(message)))
	}
	if len(message) != 64 {
		t.Errorf("%d vectors, want 64", len(message))
	}
}

func TestHashKeepsTheTopBits(t *testing.T) {
	key := [16]byte{1, 2, 3}
	for _, name := range []string{"", "foo", "a longer name than eight bytes"} {
		if got, want := Hash(&key, []byte(name)), sipHash(&key, []byte(name))>>25; got != want || got >= 1<<HashBits {
			t.Errorf("Hash(%q) = %x, want %x", name, got, want)
		}
	}
	if Hash(&key, []byte("foo")) == Hash(&[16]byte{4}, []byte("foo")) {
		t.Error("the hash does not depend on its key")
	}
}
