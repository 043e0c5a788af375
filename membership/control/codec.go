package control

import (
	"encoding/binary"
	"fmt"
	"time"
)

// encoder appends the primitive values that entries and snapshots are made of.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

func (e *encoder) int(v int64) { e.b = binary.AppendVarint(e.b, v) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) id(v [16]byte) { e.b = append(e.b, v[:]...) }

// time writes milliseconds since 1970, and 0 for the zero time and for whatever
// was before.
func (e *encoder) time(t time.Time) {
	e.int(max(0, t.UnixMilli()))
}

// decoder takes primitive values from b. The first failure sticks: later calls
// answer zero values, and err says what went wrong.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: bad %s", ErrBadEntry, what)
	}
	d.b = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n != len(binary.AppendUvarint(nil, v)) {
		d.fail("number") // cut short, beyond 64 bits, or not the shortest form
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uint()
	if v > 1<<32-1 {
		d.fail("number")
	}
	return uint32(v)
}

func (d *decoder) int() int64 {
	u := d.uint() // zigzag, so that the shortest-form rule holds for both
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) bool() bool {
	if len(d.b) == 0 || d.b[0] > 1 {
		d.fail("flag")
		return false
	}
	v := d.b[0] == 1
	d.b = d.b[1:]
	return v
}

func (d *decoder) text(limit int) string {
	n := d.uint()
	if n > uint64(limit) || n > uint64(len(d.b)) {
		d.fail("text")
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// count takes a number of elements, of which each has at least one byte.
func (d *decoder) count(limit int) int {
	n := d.uint()
	if n > uint64(limit) || n > uint64(len(d.b)) {
		d.fail("count")
		return 0
	}
	return int(n)
}

func (d *decoder) texts(limit, each int) []string {
	n := d.count(limit)
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.text(each))
	}
	return list
}

func (d *decoder) id() (v [16]byte) {
	if len(d.b) < len(v) {
		d.fail("id")
		return v
	}
	copy(v[:], d.b)
	d.b = d.b[len(v):]
	return v
}

func (d *decoder) time() time.Time {
	ms := d.int()
	if ms < 0 {
		d.fail("time")
	}
	return timeOf(ms)
}

// timeOf keeps no time zone, so that equal states compare equal.
func timeOf(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// end reports what failed, or that something is left over.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail("length")
	}
	return d.err
}
