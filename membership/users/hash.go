package users

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/argon2"
)

// ErrBadHash is returned for a password hash that this build cannot check.
var ErrBadHash = errors.New("unusable password hash")

// cost is what one hash takes. The values travel in the hash, so newer hashes
// may be slower without making older ones useless.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

// present is the cost of new hashes: about 60 ms of one core, 19 MiB.
var present = cost{memory: 19 << 10, passes: 5, threads: 1}

// most bounds the cost that a hash may ask for: it comes from the control state,
// and checking it must not exhaust the process.
var most = cost{memory: 32 << 10, passes: 16, threads: 4}

const (
	saltSize = 16
	sumSize  = 32
	// argonVersion is the only one that the algorithm's Go form computes.
	argonVersion = argon2.Version
)

// Hash returns a slow salted hash of a password in the PHC form,
//
//	$argon2id$v=19$m=MEMORY,t=PASSES,p=THREADS$SALT$SUM
//
// with a salt from random, which is crypto/rand.Reader but in tests. It takes the
// time a check takes, by design.
func Hash(password []byte, random io.Reader) (string, error) {
	return hashAt(present, password, random)
}

func hashAt(c cost, password []byte, random io.Reader) (string, error) {
	if err := CheckPassword(password); err != nil {
		return "", err
	}
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(random, salt); err != nil {
		return "", fmt.Errorf("salt: %w", err)
	}
	h := phc{c, salt, c.sum(password, salt, sumSize)}
	return h.String(), nil
}

func (c cost) sum(password, salt []byte, size int) []byte {
	return argon2.IDKey(password, salt, c.passes, c.memory, c.threads, uint32(size))
}

// phc is a parsed password hash.
type phc struct {
	cost cost
	salt []byte
	sum  []byte
}

var base = base64.RawStdEncoding.Strict()

func (h phc) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argonVersion,
		h.cost.memory, h.cost.passes, h.cost.threads, base.EncodeToString(h.salt), base.EncodeToString(h.sum))
}

// CheckHash reports why a hash is unusable. It does no slow work.
func CheckHash(text string) error {
	_, err := parseHash(text)
	return err
}

func parseHash(text string) (phc, error) {
	var (
		h       phc
		version int
		err     error
	)
	part := strings.Split(text, "$")
	if len(text) > 256 || len(part) != 6 || part[0] != "" {
		return phc{}, fmt.Errorf("%w: malformed", ErrBadHash)
	}
	if part[1] != "argon2id" {
		return phc{}, fmt.Errorf("%w: algorithm %q is not known", ErrBadHash, part[1])
	}
	if _, err := fmt.Sscanf(part[2], "v=%d", &version); err != nil || version != argonVersion {
		return phc{}, fmt.Errorf("%w: version %q is not known", ErrBadHash, part[2])
	}
	if _, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &h.cost.memory, &h.cost.passes, &h.cost.threads); err != nil || !h.cost.allowed() {
		return phc{}, fmt.Errorf("%w: cost %q is malformed or too high", ErrBadHash, part[3])
	}
	if h.salt, err = base.DecodeString(part[4]); err != nil || len(h.salt) < 8 || len(h.salt) > 64 {
		return phc{}, fmt.Errorf("%w: salt", ErrBadHash)
	}
	if h.sum, err = base.DecodeString(part[5]); err != nil || len(h.sum) < 16 || len(h.sum) > 64 {
		return phc{}, fmt.Errorf("%w: sum", ErrBadHash)
	}
	if h.String() != text { // one form for one hash, so that equal texts are equal hashes
		return phc{}, fmt.Errorf("%w: malformed", ErrBadHash)
	}
	return h, nil
}

func (c cost) allowed() bool {
	return c.memory >= 8*uint32(c.threads) && c.memory <= most.memory &&
		c.passes >= 1 && c.passes <= most.passes && c.threads >= 1 && c.threads <= most.threads
}

// matches computes the slow hash of password and compares in constant time.
func (h phc) matches(password []byte) bool {
	return subtle.ConstantTimeCompare(h.cost.sum(password, h.salt, len(h.sum)), h.sum) == 1
}

// Fingerprint stands for a hash where ACL LIST shows one: 64 hex digits, as
// Redis shows, that tell a changed password without giving the hash away.
func Fingerprint(hash string) string {
	sum := sha256.Sum256([]byte("tiergrid acl fingerprint\x00" + hash))
	return hex.EncodeToString(sum[:])
}
