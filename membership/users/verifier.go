package users

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"time"
)

// What Verify may fail with.
var (
	// ErrWrongPassword is returned for an unknown user and for a wrong password
	// alike.
	ErrWrongPassword = errors.New("invalid username-password pair")
	// ErrBusy is returned when too many logins wait already.
	ErrBusy = errors.New("too many logins at once, try again")
)

// VerifierConfig bounds a Verifier. The zero value of a field means its default.
type VerifierConfig struct {
	// Concurrent is how many slow hashes run at once, each with the memory that
	// its hash asks for (19 MiB for new ones). Default 2.
	Concurrent int
	// Waiting is how many more may wait for their turn; beyond that ErrBusy is
	// returned. Clients that log in with the same credentials at once count as
	// one. Default 256.
	Waiting int
	// Entries is how many verified credentials are remembered. Default 4,096.
	Entries int
	// Lifetime is how long they are remembered. Default 10 minutes.
	Lifetime time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Random gives the key of the memory. Default crypto/rand.Reader.
	Random io.Reader
}

func (c VerifierConfig) withDefaults() VerifierConfig {
	fallback(&c.Concurrent, 2)
	fallback(&c.Waiting, 256)
	fallback(&c.Entries, 4096)
	fallback(&c.Lifetime, 10*time.Minute)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	return c
}

func fallback[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// credentials stands for a (user, hash, password) without telling any of them.
// As the hash is part of it, changing a user's password or making the user anew
// leaves no way to what was remembered before.
type credentials [sha256.Size]byte

// Verifier checks passwords. It remembers those that were right; wrong ones cost
// the slow hash each time.
type Verifier struct {
	cfg   VerifierConfig
	macs  sync.Pool     // of hash.Hash with this process's random key
	slots chan struct{} // holds one element for each slow hash that runs
	decoy string        // the hash of users that do not exist: no password has it

	mu struct {
		sync.Mutex
		verified map[credentials]time.Time // until when they count
		ring     []credentials             // the keys of verified, at most cfg.Entries
		oldest   int                       // the place in a full ring that is taken next
		checks   map[credentials]*check    // at most cfg.Concurrent + cfg.Waiting
		stats    VerifierStats
	}
}

// check is a slow hash that runs or waits for its turn. The fields are written
// before done is closed and read after.
type check struct {
	done      chan struct{}
	right     bool
	abandoned bool // the caller who waited for the turn gave up
	err       error
}

// VerifierStats are counters since the start, and two gauges.
type VerifierStats struct {
	Remembered uint64 // logins answered from memory
	Right      uint64 // slow hashes that matched
	Wrong      uint64 // slow hashes that did not
	Busy       uint64 // logins refused with ErrBusy

	Entries int // remembered credentials now
	Checks  int // slow hashes that run or wait now
}

// NewVerifier returns a Verifier with nothing remembered.
func NewVerifier(cfg VerifierConfig) (*Verifier, error) {
	cfg = cfg.withDefaults()
	var key [sha256.Size]byte
	decoy := phc{present, make([]byte, saltSize), make([]byte, sumSize)}
	for _, b := range [][]byte{key[:], decoy.salt, decoy.sum} {
		if _, err := io.ReadFull(cfg.Random, b); err != nil {
			return nil, fmt.Errorf("random bytes for the password verifier: %w", err)
		}
	}
	v := &Verifier{cfg: cfg, slots: make(chan struct{}, cfg.Concurrent), decoy: decoy.String()}
	v.macs.New = func() any { return hmac.New(sha256.New, key[:]) }
	v.mu.verified = make(map[credentials]time.Time)
	v.mu.checks = make(map[credentials]*check)
	return v, nil
}

// Verify returns the user of d with this name and password. A login with
// credentials verified before takes microseconds, any other the slow hash, for
// unknown users too. It waits at most until ctx is done.
func (v *Verifier) Verify(ctx context.Context, d *Directory, name, password []byte) (*User, error) {
	if len(name) == 0 || len(name) > MaxName || len(password) == 0 || len(password) > MaxPassword {
		return nil, ErrWrongPassword
	}
	user, stored := d.User(name), v.decoy
	if user != nil {
		stored = user.Hash
	}
	id := v.identify(name, stored, password)
	if v.remembers(id) {
		return user, nil
	}
	right, err := v.check(ctx, id, stored, password)
	switch {
	case err != nil:
		return nil, err
	case !right || user == nil:
		return nil, ErrWrongPassword
	}
	return user, nil
}

// Stats returns the counters and gauges.
func (v *Verifier) Stats() VerifierStats {
	v.mu.Lock()
	defer v.mu.Unlock()
	stats := v.mu.stats
	stats.Entries, stats.Checks = len(v.mu.verified), len(v.mu.checks)
	return stats
}

func (v *Verifier) identify(name []byte, stored string, password []byte) (id credentials) {
	mac := v.macs.Get().(hash.Hash)
	defer v.macs.Put(mac)
	mac.Reset()
	var lengths [8]byte
	binary.LittleEndian.PutUint32(lengths[:], uint32(len(name)))
	binary.LittleEndian.PutUint32(lengths[4:], uint32(len(stored)))
	mac.Write(lengths[:])
	mac.Write(name)
	io.WriteString(mac, stored)
	mac.Write(password)
	mac.Sum(id[:0])
	return id
}

func (v *Verifier) remembers(id credentials) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	until, found := v.mu.verified[id]
	if !found || !v.cfg.Now().Before(until) {
		return false
	}
	v.mu.stats.Remembered++
	return true
}

// check runs the slow hash, or waits for the caller who runs it for the same
// credentials.
func (v *Verifier) check(ctx context.Context, id credentials, stored string, password []byte) (bool, error) {
	for {
		c, first, err := v.join(id)
		if err != nil {
			return false, err
		}
		if first {
			v.run(ctx, id, c, stored, password)
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if !c.abandoned {
			return c.right, c.err
		}
		if first {
			return false, ctx.Err()
		}
	}
}

// join returns the check of these credentials; first says that the caller has to
// run it.
func (v *Verifier) join(id credentials) (c *check, first bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c, found := v.mu.checks[id]; found {
		return c, false, nil
	}
	if len(v.mu.checks) >= v.cfg.Concurrent+v.cfg.Waiting {
		v.mu.stats.Busy++
		return nil, false, ErrBusy
	}
	c = &check{done: make(chan struct{})}
	v.mu.checks[id] = c
	return c, true, nil
}

// run waits for a turn, computes the slow hash and ends the check.
func (v *Verifier) run(ctx context.Context, id credentials, c *check, stored string, password []byte) {
	defer v.end(id, c)
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	case <-ctx.Done():
		c.abandoned = true
		return
	}
	h, err := parseHash(stored)
	if err != nil {
		c.err = err
		return
	}
	c.right = h.matches(password)
}

// end wakes who waits for the check, and remembers right credentials.
func (v *Verifier) end(id credentials, c *check) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.mu.checks, id)
	switch {
	case c.right:
		v.mu.stats.Right++
		v.remember(id)
	case !c.abandoned && c.err == nil:
		v.mu.stats.Wrong++
	}
	close(c.done)
}

// remember is called with v.mu locked.
func (v *Verifier) remember(id credentials) {
	until := v.cfg.Now().Add(v.cfg.Lifetime)
	if _, found := v.mu.verified[id]; found {
		v.mu.verified[id] = until
		return
	}
	if len(v.mu.ring) < v.cfg.Entries {
		v.mu.ring = append(v.mu.ring, id)
	} else {
		delete(v.mu.verified, v.mu.ring[v.mu.oldest])
		v.mu.ring[v.mu.oldest] = id
		v.mu.oldest = (v.mu.oldest + 1) % v.cfg.Entries
	}
	v.mu.verified[id] = until
}
