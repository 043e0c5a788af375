package users

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newVerifier(t testing.TB, cfg VerifierConfig) *Verifier {
	t.Helper()
	v, err := NewVerifier(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func directory(t testing.TB, names ...string) *Directory {
	t.Helper()
	var list []User
	for _, name := range names {
		list = append(list, User{Name: name, Hash: cheapHash(t, name+"-password"), Roles: []string{"admin"}})
	}
	return NewDirectory(1, list)
}

func login(v *Verifier, d *Directory, name, password string) error {
	user, err := v.Verify(context.Background(), d, []byte(name), []byte(password))
	if err == nil && user.Name != name {
		return fmt.Errorf("logged in as %s", user.Name)
	}
	return err
}

func TestVerify(t *testing.T) {
	v, d := newVerifier(t, VerifierConfig{}), directory(t, "a", "b")
	for range 3 {
		if err := login(v, d, "a", "a-password"); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range [][2]string{{"a", "b-password"}, {"b", "a-password"}, {"a", "A-password"}, {"c", "a-password"}, {"a", ""}, {"", "x"}} {
		if err := login(v, d, wrong[0], wrong[1]); !errors.Is(err, ErrWrongPassword) {
			t.Errorf("login of %v = %v", wrong, err)
		}
	}
	if s := v.Stats(); s.Right != 1 || s.Remembered != 2 || s.Wrong != 4 || s.Entries != 1 || s.Checks != 0 {
		t.Errorf("stats = %+v", s)
	}
}

func TestARememberedLoginIsForgotten(t *testing.T) {
	now := &clock{now: time.Unix(1, 0)}
	v, d := newVerifier(t, VerifierConfig{Lifetime: time.Minute, Now: now.Now}), directory(t, "a")
	// logins has the user log in twice and wants so many slow hashes until then.
	logins := func(slow uint64, why string) {
		t.Helper()
		for range 2 {
			if err := login(v, d, "a", "a-password"); err != nil {
				t.Fatal(err)
			}
		}
		if got := v.Stats().Right; got != slow {
			t.Errorf("%d slow hashes, want %d: %s", got, slow, why)
		}
	}
	logins(1, "the second login is answered from memory")
	now.advance(time.Minute)
	logins(2, "after its lifetime a login is checked anew and remembered again")
	d = directory(t, "a") // the same password with another salt
	logins(3, "a changed hash drops what was remembered")
	d = NewDirectory(3, nil)
	if err := login(v, d, "a", "a-password"); !errors.Is(err, ErrWrongPassword) {
		t.Errorf("a removed user logged in: %v", err)
	}
}

func TestMemoryOfLoginsIsBounded(t *testing.T) {
	v, d := newVerifier(t, VerifierConfig{Entries: 3}), directory(t, "a", "b", "c", "d", "e")
	for range 2 {
		for _, u := range d.All() {
			if err := login(v, d, u.Name, u.Name+"-password"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := v.Stats(); s.Entries != 3 || s.Right != 10 {
		t.Errorf("stats = %+v, want the 3 newest", s)
	}
	if err := login(v, d, "c", "c-password"); err != nil || v.Stats().Remembered != 1 {
		t.Errorf("one of the 3 newest was forgotten: %v", err)
	}
}

// hold takes all slots, so that checks wait until release.
func hold(v *Verifier) (release func()) {
	for range cap(v.slots) {
		v.slots <- struct{}{}
	}
	return func() {
		for range cap(v.slots) {
			<-v.slots
		}
	}
}

func waitForChecks(t *testing.T, v *Verifier, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); v.Stats().Checks != n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d checks, want %d", v.Stats().Checks, n)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestALoginStormIsBounded(t *testing.T) {
	v, d := newVerifier(t, VerifierConfig{Concurrent: 1, Waiting: 2}), directory(t, "a")
	release := hold(v)
	var wg sync.WaitGroup
	results := make(chan error, 3)
	for i := range 3 {
		wg.Go(func() { results <- login(v, d, "a", fmt.Sprint("wrong", i)) })
	}
	waitForChecks(t, v, 3)
	if err := login(v, d, "a", "one too many"); !errors.Is(err, ErrBusy) {
		t.Errorf("login = %v, want ErrBusy", err)
	}
	release()
	wg.Wait()
	for range 3 {
		if err := <-results; !errors.Is(err, ErrWrongPassword) {
			t.Errorf("login = %v", err)
		}
	}
	if s := v.Stats(); s.Busy != 1 || s.Wrong != 3 || s.Checks != 0 {
		t.Errorf("stats = %+v", s)
	}
}

func TestEqualLoginsAreCheckedOnce(t *testing.T) {
	v, d := newVerifier(t, VerifierConfig{Concurrent: 1, Waiting: 1}), directory(t, "a")
	release := hold(v)
	var wg sync.WaitGroup
	results := make(chan error, 50)
	for range 50 {
		wg.Go(func() { results <- login(v, d, "a", "a-password") })
	}
	waitForChecks(t, v, 1)
	release()
	wg.Wait()
	for range 50 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	if s := v.Stats(); s.Right+s.Remembered < 1 || s.Right > 2 {
		t.Errorf("stats = %+v: 50 equal logins must not cost 50 slow hashes", s)
	}
}

func TestWhoGivesUpDoesNotFailTheOthers(t *testing.T) {
	v, d := newVerifier(t, VerifierConfig{Concurrent: 1}), directory(t, "a")
	release := hold(v)
	ctx, cancel := context.WithCancel(context.Background())
	verify := func(ctx context.Context, result chan<- error) {
		_, err := v.Verify(ctx, d, []byte("a"), []byte("a-password"))
		result <- err
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go verify(ctx, first)
	waitForChecks(t, v, 1)
	go verify(context.Background(), second)
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first = %v", err)
	}
	release()
	if err := <-second; err != nil {
		t.Errorf("second = %v", err)
	}
}

func TestVerifyWithAnUnusableHash(t *testing.T) {
	v := newVerifier(t, VerifierConfig{})
	d := NewDirectory(1, []User{{Name: "a", Hash: "$future$1"}})
	if err := login(v, d, "a", "p"); !errors.Is(err, ErrBadHash) {
		t.Errorf("login = %v", err)
	}
}

func TestVerifierNeedsRandomBytes(t *testing.T) {
	if _, err := NewVerifier(VerifierConfig{Random: io.LimitReader(rand.Reader, 10)}); err == nil {
		t.Error("a verifier without a random key must not come to be")
	}
}

// Present hashes are slow, the memory of right ones is not.
func TestSpeed(t *testing.T) {
	h, err := Hash([]byte("developer"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	v, d := newVerifier(t, VerifierConfig{}), NewDirectory(1, []User{{Name: "developer", Hash: h}})
	start := time.Now()
	if err := login(v, d, "developer", "developer"); err != nil {
		t.Fatal(err)
	}
	slow := time.Since(start)
	start = time.Now()
	for range 100 {
		if err := login(v, d, "developer", "developer"); err != nil {
			t.Fatal(err)
		}
	}
	if quick := time.Since(start) / 100; slow < 100*quick {
		t.Errorf("the first login took %v, the next ones %v", slow, quick)
	}
}

func TestDirectory(t *testing.T) {
	roles := []string{"observer"}
	d := NewDirectory(7, []User{{Name: "b", Hash: "h", Roles: roles}, {Name: "a", Roles: []string{"admin", "from-the-future"}}, {Name: "b", Hash: "g", Roles: roles}})
	roles[0] = "admin"
	if d.Version() != 7 || d.Len() != 2 || d.All()[0].Name != "a" || d.User([]byte("c")) != nil {
		t.Errorf("directory = %+v", d)
	}
	b := d.User([]byte("b"))
	if want := "user b on #" + Fingerprint("g") + " %R~* resetchannels -@all +@read"; b.ACL()[:len(want)] != want {
		t.Errorf("ACL = %s", b.ACL())
	}
	if got := d.User([]byte("a")).ACL(); got != "user a on nopass ~* &* +@all" {
		t.Errorf("ACL = %s", got)
	}
	if got := Open().ACL(); got != "user default on nopass ~* &* +@all" {
		t.Errorf("ACL = %s", got)
	}
	sum := Compile([]string{"observer", "application"})
	if got := sum.String(); got != sum.Rules()[0].String()+" ("+sum.Rules()[1].String()+")" || len(sum.Rules()) != 2 {
		t.Errorf("rules of two roles = %q", got)
	}
}
