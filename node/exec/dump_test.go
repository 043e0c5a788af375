package exec

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/command"
)

// The check value of CRC-64 "Jones" without inversions.
func TestDumpSum(t *testing.T) {
	if got := dumpSum([]byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("the checksum is %x", got)
	}
}

// sealed puts version and checksum behind a body.
func sealed(version uint16, body ...byte) string {
	b := binary.LittleEndian.AppendUint16(slices.Clip(body), version)
	return string(binary.LittleEndian.AppendUint64(b, dumpSum(b)))
}

func TestRestoreOfEveryForm(t *testing.T) {
	hello := []byte("hello")
	for name, c := range map[string]struct {
		dump, want string
	}{
		"6 bits":             {sealed(10, append([]byte{0, 5}, hello...)...), "hello"},
		"14 bits":            {sealed(10, append([]byte{0, 0x40, 5}, hello...)...), "hello"},
		"32 bits":            {sealed(10, append([]byte{0, 0x80, 0, 0, 0, 5}, hello...)...), "hello"},
		"64 bits":            {sealed(10, append([]byte{0, 0x81, 0, 0, 0, 0, 0, 0, 0, 5}, hello...)...), "hello"},
		"8-bit number":       {sealed(10, 0, 0xc0, 0x80), "-128"},
		"16-bit number":      {sealed(10, 0, 0xc1, 0, 0x80), "-32768"},
		"32-bit number":      {sealed(10, 0, 0xc2, 0xff, 0xff, 0xff, 0x7f), "2147483647"},
		"literal":            {sealed(10, append([]byte{0, 0xc3, 6, 5, 4}, hello...)...), "hello"},
		"reference":          {sealed(10, 0, 0xc3, 4, 8, 0, 'a', 5<<5, 0), "aaaaaaaa"},
		"long reference":     {sealed(10, 0, 0xc3, 6, 0x40, 20, 1, 'a', 'b', 7<<5, 9, 1), strings.Repeat("ab", 10)},
		"an older version":   {sealed(1, append([]byte{0, 5}, hello...)...), "hello"},
		"of Redis 7.2":       {sealed(11, append([]byte{0, 5}, hello...)...), "hello"},
		"empty":              {sealed(10, 0, 0), ""},
		"something behind":   {sealed(10, append([]byte{0, 4}, hello...)...), "hell"},
		"long form of short": {sealed(10, 0, 0x80, 0, 0, 0, 0), ""},
	} {
		r := newRunner()
		if reply := r.do("restore", "k", "0", c.dump); string(reply) != "+OK\r\n" {
			t.Errorf("%s: %q", name, reply)
			continue
		}
		if got := decode(t, r.do("get", "k")); string(got.Bytes) != c.want || got.Null {
			t.Errorf("%s: %q, want %q", name, got.Bytes, c.want)
		}
	}
}

func TestRestoreOfBadDumps(t *testing.T) {
	good := sealed(10, 0, 1, 'x')
	for name, c := range map[string]struct {
		dump string
		want command.Error
	}{
		"empty":              {"", command.ErrBadPayload},
		"shorter than a sum": {good[4:], command.ErrBadPayload},
		"wrong sum":          {good[:len(good)-1] + "x", command.ErrBadPayload},
		"changed":            {"\x00\x01y" + good[3:], command.ErrBadPayload},
		"newer version":      {sealed(12, 0, 1, 'x'), command.ErrBadPayload},
		"nothing in it":      {sealed(10), command.ErrBadData},
		"no length":          {sealed(10, 0), command.ErrBadData},
		"another type":       {sealed(10, 1, 1, 'x'), command.ErrBadData},
		"string too short":   {sealed(10, 0, 2, 'x'), command.ErrBadData},
		"length cut":         {sealed(10, 0, 0x40), command.ErrBadData},
		"long length cut":    {sealed(10, 0, 0x80, 0, 0), command.ErrBadData},
		"unknown length":     {sealed(10, 0, 0x82, 0, 0), command.ErrBadData},
		"unknown encoding":   {sealed(10, 0, 0xc4), command.ErrBadData},
		"number cut":         {sealed(10, 0, 0xc2, 0), command.ErrBadData},
		"length of 2^64-1":   {sealed(10, 0, 0x81, 255, 255, 255, 255, 255, 255, 255, 255), command.ErrBadData},
		"packed length cut":  {sealed(10, 0, 0xc3, 1), command.ErrBadData},
		"packed to nothing":  {sealed(10, 0, 0xc3, 0, 0), command.ErrBadData},
		"packed too well":    {sealed(10, 0, 0xc3, 1, 0x40, 89, 0), command.ErrBadData},
		"length is a code":   {sealed(10, 0, 0xc3, 0xc0, 1), command.ErrBadData},
		"literal too long":   {sealed(10, 0, 0xc3, 2, 2, 1, 'a'), command.ErrBadData},
		"literal over end":   {sealed(10, 0, 0xc3, 3, 1, 1, 'a', 'b'), command.ErrBadData},
		"plain too short":    {sealed(10, 0, 0xc3, 2, 2, 0, 'a'), command.ErrBadData},
		"before the start":   {sealed(10, 0, 0xc3, 4, 4, 0, 'a', 1<<5, 1), command.ErrBadData},
		"reference over end": {sealed(10, 0, 0xc3, 4, 3, 0, 'a', 1<<5, 0), command.ErrBadData},
		"reference cut":      {sealed(10, 0, 0xc3, 3, 9, 0, 'a', 7<<5), command.ErrBadData},
		"distance cut":       {sealed(10, 0, 0xc3, 4, 9, 0, 'a', 7<<5, 1), command.ErrBadData},
	} {
		r := newRunner()
		r.do("set", "k", "old")
		want := "-" + string(c.want) + "\r\n"
		if reply := r.do("restore", "k", "0", c.dump, "replace"); string(reply) != want {
			t.Errorf("%s: %q, want %q", name, reply, want)
		}
		if got := decode(t, r.do("get", "k")); string(got.Bytes) != "old" {
			t.Errorf("%s: the old value became %q", name, got.Bytes)
		}
	}
}

// A few bytes that claim to stand for much more than the cache takes are refused
// by that limit, before memory is reserved.
func TestRestoreOverTheLimit(t *testing.T) {
	r := newRunner()
	r.do("select", "2")
	want := "-" + string(command.ErrStringTooLong) + "\r\n"
	for _, dump := range []string{sealed(10, append([]byte{0, 17}, "12345678901234567"...)...), sealed(10, 0, 0xc3, 5, 17, 0, 'a', 7<<5, 7, 0)} {
		if reply := r.do("restore", "k", "0", dump); string(reply) != want {
			t.Errorf("%q, want %q", reply, want)
		}
	}
}

func TestRestoreTimes(t *testing.T) {
	r := newRunner()
	r.now = func() int64 { return startOfTime }
	dump := sealed(10, 0, 1, 'x')
	for _, c := range []struct {
		ttl, option, want string
	}{
		{"0", "replace", ":-1"},
		{"1000", "replace", ":1000"},
		{strconv.Itoa(startOfTime + 500), "absttl", ":500"},
		{strconv.Itoa(startOfTime), "absttl", ":-2"},
		{"1", "absttl", ":-2"},
		{"0", "absttl", ":-1"},
		{"9223372036854775807", "absttl", ":" + strconv.Itoa(1<<63-1-startOfTime)},
	} {
		r.do("set", "k", "old")
		if reply := r.do("restore", "k", c.ttl, dump, "replace", c.option); string(reply) != "+OK\r\n" {
			t.Errorf("ttl %s %s: %q", c.ttl, c.option, reply)
		}
		if reply := r.do("pttl", "k"); string(reply) != c.want+"\r\n" {
			t.Errorf("ttl %s %s leaves %q, want %q", c.ttl, c.option, reply, c.want)
		}
	}
	if reply := r.do("restore", "k", "9223372036854775807", dump, "replace"); string(reply) != "-"+string(command.ErrInvalidTTL)+"\r\n" {
		t.Errorf("a time beyond the end: %q", reply)
	}
	if reply := r.do("restore", "other", "0", dump, "idletime", "10", "absttl", "IDLETIME", "0"); string(reply) != "+OK\r\n" {
		t.Errorf("idle time: %q", reply)
	}
	if reply := r.do("restore", "third", "0", dump, "freq", "255"); string(reply) != "+OK\r\n" {
		t.Errorf("frequency: %q", reply)
	}
}

// Strings that Redis compresses, some of them long.
func TestDumpsAreExchangedWithRedis(t *testing.T) {
	p, r := newPeer(t, 2), newRunner()
	g := newGenerator(3)
	for range 300 {
		value := strings.Repeat(g.pick("a", "abc", "hello world ", "\x00\xff"), g.IntN(200))
		for range g.IntN(6) {
			value += g.value()
		}
		if g.chance(20) {
			value = strings.Repeat(value, 50)
		}
		p.do("set", "k", value)
		r.do("set", "k", value)
		theirs, ours := decode(t, p.do("dump", "k")).Bytes, decode(t, r.do("dump", "k")).Bytes
		if reply := r.do("restore", "copy", "0", string(theirs), "replace"); string(reply) != "+OK\r\n" {
			t.Fatalf("restore of Redis's dump of %q: %q", value, reply)
		}
		if reply := p.do("restore", "copy", "0", string(ours), "replace"); string(reply) != "+OK\r\n" {
			t.Fatalf("Redis's restore of our dump of %q: %q", value, reply)
		}
		if got := decode(t, r.do("get", "copy")).Bytes; string(got) != value {
			t.Fatalf("%q became %q", value, got)
		}
		if got := decode(t, p.do("get", "copy")).Bytes; string(got) != value {
			t.Fatalf("%q became %q in redis-server", value, got)
		}
	}
}

func FuzzRestore(f *testing.F) {
	f.Add([]byte{0, 1, 'x'})
	f.Add([]byte{0, 0xc3, 6, 0x40, 20, 1, 'a', 'b', 7 << 5, 9, 1})
	f.Add([]byte{0, 0xc2, 1, 2, 3, 4})
	r := newRunner()
	f.Fuzz(func(t *testing.T, body []byte) {
		reply := r.do("restore", "k", "0", sealed(10, body...), "replace")
		if string(reply) != "+OK\r\n" {
			return
		}
		value := decode(t, r.do("get", "k")).Bytes
		r.do("restore", "again", "0", string(decode(t, r.do("dump", "k")).Bytes), "replace")
		if again := decode(t, r.do("get", "again")).Bytes; !bytes.Equal(again, value) {
			t.Errorf("%q is dumped and restored as %q", value, again)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(uint16(20), []byte{1, 'a', 'b', 7 << 5, 9, 1})
	f.Fuzz(func(t *testing.T, length uint16, src []byte) {
		if unpack(make([]byte, length), src) && int(length) > len(src)*maxExpansion {
			t.Errorf("%d bytes became %d", len(src), length)
		}
	})
}
