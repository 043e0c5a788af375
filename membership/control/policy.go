package control

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// MaxEntrySize is the largest max-entry-size a cache may have.
const MaxEntrySize = 512 << 20

// Change is the part of a Policy that somebody asks for; nil fields stay as they
// are in the template or the cache.
type Change struct {
	Mode         *string
	Owners       *int
	Replication  *string
	Reads        *string
	Durability   *string
	SyncInterval *time.Duration
	MinISR       *int
	WhenFull     *string
	MaxEntrySize *int64
	TTL          *time.Duration
}

// Whole returns the change that asks for every value of p.
func Whole(p topology.Policy) Change {
	return Change{
		Mode: &p.Mode, Owners: &p.Owners, Replication: &p.Replication, Reads: &p.Reads,
		Durability: &p.Durability, SyncInterval: &p.SyncInterval, MinISR: &p.MinISR,
		WhenFull: &p.WhenFull, MaxEntrySize: &p.MaxEntrySize, TTL: &p.TTL,
	}
}

// Over returns p with the change's values in place of its own.
func (c Change) Over(p topology.Policy) topology.Policy {
	for _, s := range settings {
		s.overlay(&p, &c)
	}
	return p
}

// differences lists where p has other values than c asks for.
func (c Change) differences(p topology.Policy) []Difference {
	want := c.Over(p)
	var list []Difference
	for _, s := range settings {
		if have, asked := s.show(&p), s.show(&want); have != asked {
			list = append(list, Difference{s.name, have, asked})
		}
	}
	return list
}

// encode writes a bit for each setting and then the values that are asked for.
func (c Change) encode(e *encoder) {
	var present uint64
	for i, s := range settings {
		if s.asked(&c) {
			present |= 1 << i
		}
	}
	e.uint(present)
	for _, s := range settings {
		s.encode(e, &c)
	}
}

func decodeChange(d *decoder) Change {
	var c Change
	present := d.uint()
	if present >= 1<<len(settings) {
		d.fail("settings")
	}
	for i, s := range settings {
		if present&(1<<i) != 0 {
			s.decode(d, &c)
		}
	}
	return c
}

func encodePolicy(e *encoder, p topology.Policy) { Whole(p).encode(e) }

func decodePolicy(d *decoder) topology.Policy {
	c := decodeChange(d)
	for _, s := range settings {
		if !s.asked(&c) && d.err == nil {
			d.fail("policy")
		}
	}
	return c.Over(topology.Policy{})
}

// setting is one field of Policy and Change.
type setting struct {
	name    string
	asked   func(*Change) bool
	overlay func(*topology.Policy, *Change)
	show    func(*topology.Policy) string
	encode  func(*encoder, *Change) // nothing when it is not asked for
	decode  func(*decoder, *Change)
}

// settings is in the order of the encoding: new ones go to the end, with a new
// version of every entry that carries a change.
var settings = []setting{
	newSetting("mode", func(p *topology.Policy) *string { return &p.Mode }, func(c *Change) **string { return &c.Mode }, textForm),
	newSetting("owners", func(p *topology.Policy) *int { return &p.Owners }, func(c *Change) **int { return &c.Owners }, countForm),
	newSetting("replication", func(p *topology.Policy) *string { return &p.Replication }, func(c *Change) **string { return &c.Replication }, textForm),
	newSetting("reads", func(p *topology.Policy) *string { return &p.Reads }, func(c *Change) **string { return &c.Reads }, textForm),
	newSetting("durability", func(p *topology.Policy) *string { return &p.Durability }, func(c *Change) **string { return &c.Durability }, textForm),
	newSetting("sync-interval", func(p *topology.Policy) *time.Duration { return &p.SyncInterval }, func(c *Change) **time.Duration { return &c.SyncInterval }, durationForm),
	newSetting("min-isr", func(p *topology.Policy) *int { return &p.MinISR }, func(c *Change) **int { return &c.MinISR }, countForm),
	newSetting("when-full", func(p *topology.Policy) *string { return &p.WhenFull }, func(c *Change) **string { return &c.WhenFull }, textForm),
	newSetting("max-entry-size", func(p *topology.Policy) *int64 { return &p.MaxEntrySize }, func(c *Change) **int64 { return &c.MaxEntrySize }, sizeForm),
	newSetting("ttl", func(p *topology.Policy) *time.Duration { return &p.TTL }, func(c *Change) **time.Duration { return &c.TTL }, ttlForm),
}

// valueForm is how values of one type are shown and encoded.
type valueForm[T any] struct {
	show   func(T) string
	encode func(*encoder, T)
	decode func(*decoder) T
}

var (
	textForm = valueForm[string]{
		func(s string) string { return s },
		(*encoder).text,
		func(d *decoder) string { return d.text(MaxName) },
	}
	countForm = valueForm[int]{
		strconv.Itoa,
		func(e *encoder, n int) { e.int(int64(n)) },
		func(d *decoder) int { return int(d.int()) },
	}
	sizeForm     = valueForm[int64]{showSize, (*encoder).int, (*decoder).int}
	durationForm = valueForm[time.Duration]{
		time.Duration.String,
		func(e *encoder, t time.Duration) { e.int(int64(t)) },
		func(d *decoder) time.Duration { return time.Duration(d.int()) },
	}
	ttlForm = valueForm[time.Duration]{showTTL, durationForm.encode, durationForm.decode}
)

func newSetting[T any](name string, of func(*topology.Policy) *T, ask func(*Change) **T, form valueForm[T]) setting {
	return setting{
		name:  name,
		asked: func(c *Change) bool { return *ask(c) != nil },
		overlay: func(p *topology.Policy, c *Change) {
			if v := *ask(c); v != nil {
				*of(p) = *v
			}
		},
		show: func(p *topology.Policy) string { return form.show(*of(p)) },
		encode: func(e *encoder, c *Change) {
			if v := *ask(c); v != nil {
				form.encode(e, *v)
			}
		},
		decode: func(d *decoder, c *Change) {
			v := form.decode(d)
			*ask(c) = &v
		},
	}
}

func showTTL(t time.Duration) string {
	if t == 0 {
		return "none"
	}
	return t.String()
}

// showSize writes bytes in the largest binary unit that keeps the exact number.
func showSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for n != 0 && n%1024 == 0 && i < len(units)-1 {
		n /= 1024
		i++
	}
	return strconv.FormatInt(n, 10) + units[i]
}

// checkPolicy says which value of a policy is not allowed.
func checkPolicy(p topology.Policy) error {
	for _, c := range []struct {
		name, value string
		allowed     []string
	}{
		{"mode", p.Mode, []string{topology.ModeDistributed, topology.ModeReplicated}},
		{"replication", p.Replication, []string{topology.ReplicationSync, topology.ReplicationAsync}},
		{"reads", p.Reads, []string{topology.ReadsPrimary, topology.ReadsAny}},
		{"durability", p.Durability, []string{topology.DurabilityAlways, topology.DurabilityInterval, topology.DurabilityNone}},
		{"when-full", p.WhenFull, []string{topology.WhenFullRemove}},
	} {
		if err := checkChoice(c.name, c.value, c.allowed); err != nil {
			return err
		}
	}
	return checkRanges(p)
}

func checkChoice(name, value string, allowed []string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return fmt.Errorf("%s %q: %w: it must be one of %v", name, value, ErrInvalid, allowed)
}

func checkRanges(p topology.Policy) error {
	mostISR := int64(6)
	if p.Mode == topology.ModeDistributed {
		mostISR = min(mostISR, int64(p.Owners)) // more could never be in sync
	}
	for _, c := range []struct {
		name        string
		value       int64
		least, most int64
		show        func(int64) string
	}{
		{"owners", int64(p.Owners), 1, 6, showCount},
		{"min-isr", int64(p.MinISR), 1, mostISR, showCount},
		{"sync-interval", int64(p.SyncInterval), int64(time.Millisecond), int64(time.Minute), showDuration},
		{"max-entry-size", p.MaxEntrySize, 1, MaxEntrySize, showSize},
		{"ttl", int64(p.TTL), 0, int64(100 * 365 * 24 * time.Hour), showDuration},
	} {
		if c.value < c.least || c.value > c.most {
			return fmt.Errorf("%s %s: %w: it must be %s to %s", c.name, c.show(c.value), ErrInvalid, c.show(c.least), c.show(c.most))
		}
	}
	if p.TTL%time.Millisecond != 0 {
		return fmt.Errorf("ttl %s: %w: it must be whole milliseconds", p.TTL, ErrInvalid)
	}
	return nil
}

func showCount(n int64) string { return strconv.FormatInt(n, 10) }

func showDuration(n int64) string { return time.Duration(n).String() }
