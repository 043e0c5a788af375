package users

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// cheap keeps tests quick where the slowness is not the point.
var cheap = cost{memory: 8, passes: 1, threads: 1}

func cheapHash(t testing.TB, password string) string {
	t.Helper()
	h, err := hashAt(cheap, []byte(password), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// zeros is a source of salt that gives the same hash each time.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// The file holds hashes of "developer" that must stay valid for ever, the first
// at the present cost.
func TestHashGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/hashes.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(golden))
	if got, err := Hash([]byte("developer"), zeros{}); err != nil || got != lines[0] {
		t.Errorf("Hash = %s, %v, want %s", got, err, lines[0])
	}
	for _, line := range lines {
		h, err := parseHash(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !h.matches([]byte("developer")) || h.matches([]byte("Developer")) {
			t.Errorf("%s does not tell developer from Developer", line)
		}
	}
}

func TestHashesAreSalted(t *testing.T) {
	if first, second := cheapHash(t, "p"), cheapHash(t, "p"); first == second {
		t.Error("two hashes of one password are equal")
	}
	if _, err := Hash([]byte("p"), io.LimitReader(rand.Reader, 3)); err == nil {
		t.Error("no salt must mean no hash")
	}
}

func TestBadHashes(t *testing.T) {
	good := cheapHash(t, "p")
	part := strings.Split(good, "$")
	with := func(i int, text string) string {
		p := append([]string(nil), part...)
		p[i] = text
		return strings.Join(p, "$")
	}
	for _, text := range []string{
		"", "$", "plain", good + "$", good[1:], with(1, "argon2i"), with(1, "scrypt"), with(2, "v=18"), with(2, "v=19 "),
		with(3, "m=8,t=1"), with(3, "m=8,t=1,p=0"), with(3, "m=99999999,t=1,p=1"), with(3, "m=8,t=9999,p=1"), with(3, "m=7,t=1,p=1"),
		with(3, "m=-8,t=1,p=1"), with(3, "m=+8,t=1,p=1"), with(3, "m=8,t=0,p=1"), with(3, "m=8,t=1,p=255"),
		with(4, ""), with(4, "!!"), with(4, "AAAA"), with(5, ""), with(5, "AAAA"), with(5, strings.Repeat("A", 200)), good + "=",
	} {
		if err := CheckHash(text); !errors.Is(err, ErrBadHash) {
			t.Errorf("CheckHash(%q) = %v", text, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	a, b := Fingerprint("x"), Fingerprint("y")
	if len(a) != 64 || a == b || strings.Trim(a, "0123456789abcdef") != "" {
		t.Errorf("fingerprints %s and %s", a, b)
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(cheapHash(f, "p"))
	f.Add("$argon2id$v=19$m=19456,t=5,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHash(text)
		if err != nil {
			return
		}
		if h.String() != text || !h.cost.allowed() {
			t.Errorf("%q was taken for %q", text, h.String())
		}
	})
}

func TestNames(t *testing.T) {
	for _, name := range []string{"developer", "a", "søren", "a.b-c_d@example.org", strings.Repeat("x", MaxName)} {
		if err := CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"", " ", "a b", "a\tb", "a\x00", "a\n", "a:b", "\xff", "a\u00a0b", strings.Repeat("x", MaxName+1)} {
		if err := CheckName(name); !errors.Is(err, ErrBadName) {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func TestPasswords(t *testing.T) {
	for _, password := range []string{"developer", "a pass phrase: 4 words", "ß", strings.Repeat("x", MaxPassword)} {
		if err := CheckPassword([]byte(password)); err != nil {
			t.Errorf("CheckPassword(%q) = %v", password, err)
		}
	}
	for _, password := range []string{"", "a\x00", "a\r\n", "\x7f", "\xff", strings.Repeat("x", MaxPassword+1)} {
		if err := CheckPassword([]byte(password)); !errors.Is(err, ErrBadPassword) {
			t.Errorf("CheckPassword(%q) = %v", password, err)
		}
		if h, err := Hash([]byte(password), bytes.NewReader(make([]byte, 64))); err == nil {
			t.Errorf("%q was hashed: %s", password, h)
		}
	}
}
