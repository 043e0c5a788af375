package exec

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator makes random commands over few keys, so that they meet. Times are
// far in the future or long past, for the two sides run at different moments.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 1))}
}

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g *generator) key() string {
	return g.pick("k1", "k2", "k3", "k4", "k5", "k6", "{k}7", "a\xffb\r\n", "")
}

func (g *generator) value() string {
	switch g.IntN(8) {
	case 0:
		return g.number()
	case 1:
		return g.float()
	case 2:
		return strings.Repeat(g.pick("x", "ab", "\x00", "\xff\xfe"), g.IntN(40))
	case 3:
		return strings.Repeat(g.pick("long ", "\xff"), 1+g.IntN(1500))
	case 4:
		b := make([]byte, g.IntN(70))
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return string(b)
	}
	return g.pick("", "a", "hello", "10", "-1", "abc", " 1", "007")
}

// number is mostly a 64-bit integer.
func (g *generator) number() string {
	switch g.IntN(12) {
	case 0:
		return g.pick("9223372036854775807", "-9223372036854775808", "9223372036854775806", "-9223372036854775807")
	case 1:
		return g.pick("9223372036854775808", "x", "", "1.5", "+1", "-0", "00", " 1", "-", "99999999999999999999")
	case 2:
		return strconv.FormatInt(int64(g.Uint64()), 10)
	case 3:
		return strconv.FormatInt(int64(int32(g.Uint32())), 10)
	}
	return strconv.Itoa(g.IntN(40) - 20)
}

func (g *generator) float() string {
	switch g.IntN(5) {
	case 0:
		return g.pick("inf", "-inf", "nan", "1e", "0x1p-3", "1e4000", "1e5000", ".5", "-", "1e-4940", "")
	case 1:
		return strconv.FormatFloat(g.NormFloat64(), 'g', g.IntN(20), 64)
	case 2:
		return g.number() + "." + strconv.Itoa(g.IntN(1e9))
	}
	return fmt.Sprintf("%s%de%d", g.pick("", "-"), g.IntN(1e6), g.IntN(40)-20)
}

// index is a position within a string or a little outside.
func (g *generator) index() string {
	switch g.IntN(10) {
	case 0:
		return g.number()
	case 1:
		return strconv.Itoa(g.IntN(600000) - 300000)
	}
	return strconv.Itoa(g.IntN(60) - 25)
}

func (g *generator) offset() string {
	switch g.IntN(12) {
	case 0:
		return g.pick("-1", "x", "9223372036854775807", "4294967296")
	case 1:
		return strconv.Itoa(g.IntN(300000))
	}
	return strconv.Itoa(g.IntN(80))
}

// timeOption is an option with its time, or something that is none.
func (g *generator) timeOption() []string {
	switch g.IntN(10) {
	case 0:
		return []string{g.pick("ex", "px", "exat", "pxat"), g.pick("0", "-1", "x", "9223372036854775807", "1.5", "")}[:1+g.IntN(2)]
	case 1:
		return []string{"exat", g.pick("1", "1000000")}
	case 2:
		return []string{"pxat", g.pick("1", "1000000")}
	case 3:
		return []string{"px", g.millis()}
	case 4:
		return []string{"exat", strconv.Itoa(4000000000 + g.IntN(1e9))}
	}
	return []string{g.pick("ex", "EX"), g.secs()}
}

// secs and millis are times to live; hardly ever are two of them close.
func (g *generator) secs() string   { return strconv.Itoa(1000 + g.IntN(1e8)) }
func (g *generator) millis() string { return strconv.Itoa(1000000 + g.IntN(1e11)) }

// some appends each word once in n times.
func (g *generator) some(args []string, n int, words ...string) []string {
	for _, word := range words {
		if g.chance(n) {
			args = append(args, word)
		}
	}
	return args
}

func (g *generator) list(n int, word func() string) []string {
	var out []string
	for range 1 + g.IntN(n) {
		out = append(out, word())
	}
	return out
}

func with(first string, rest ...string) []string { return append([]string{first}, rest...) }

// command is the next command.
func (g *generator) command() []string {
	makers := [...]func() []string{
		g.set, g.set, g.set, g.strings, g.strings, g.counters, g.ranges, g.ranges, g.bits, g.bits,
		g.many, g.keys, g.keys, g.expire, g.expire, g.object, g.lcs, g.database, g.rare,
	}
	args := makers[g.IntN(len(makers))]()
	if g.chance(60) && args[0] != "scan" { // a wrong number of words
		return args[:1+g.IntN(len(args))]
	}
	return args
}

func (g *generator) set() []string {
	args := []string{g.pick("set", "SET"), g.key(), g.value()}
	if g.chance(2) {
		return args
	}
	args = g.some(args, 4, "nx", "xx", "get", "keepttl", "foo")
	if g.chance(2) {
		args = append(args, g.timeOption()...)
	}
	return args
}

func (g *generator) strings() []string {
	switch g.IntN(9) {
	case 0:
		return with("getdel", g.key())
	case 1:
		return g.some(append([]string{"getex", g.key()}, g.timeOption()...), 8, "persist")
	case 2:
		return g.some([]string{"getex", g.key()}, 2, "persist")
	case 3:
		return with("setnx", g.key(), g.value())
	case 4:
		return with("setex", g.key(), g.pick(g.secs(), g.secs(), "0", "-1", "x"), g.value())
	case 5:
		return with("psetex", g.key(), g.pick(g.millis(), g.secs()+"000", "0", "x"), g.value())
	case 6:
		return with("getset", g.key(), g.value())
	}
	return with(g.pick("get", "strlen"), g.key())
}

func (g *generator) counters() []string {
	switch g.IntN(4) {
	case 0:
		return with(g.pick("incrby", "decrby"), g.key(), g.number())
	case 1:
		return with("incrbyfloat", g.key(), g.float())
	case 2:
		return with("set", g.key(), g.pick(g.number(), g.float()))
	}
	return with(g.pick("incr", "decr"), g.key())
}

func (g *generator) ranges() []string {
	switch g.IntN(4) {
	case 0:
		return with("append", g.key(), g.value())
	case 1:
		return with("setrange", g.key(), g.offset(), g.value())
	}
	return with(g.pick("getrange", "getrange", "substr"), g.key(), g.index(), g.index())
}

func (g *generator) bits() []string {
	switch g.IntN(6) {
	case 0:
		return with("setbit", g.key(), g.offset(), g.pick("0", "1", "1", "2", "x"))
	case 1:
		return with("getbit", g.key(), g.offset())
	case 2:
		args := []string{"bitcount", g.key(), g.index(), g.index(), g.pick("bit", "byte", "BIT", "foo")}
		return args[:g.oneOf(2, 4, 5, 3)]
	case 3:
		return append([]string{"bitop", g.pick("and", "or", "xor", "AND", "foo"), g.key()}, g.list(3, g.key)...)
	case 4:
		return with("bitop", "not", g.key(), g.key())
	}
	args := []string{"bitpos", g.key(), g.pick("0", "1", "1", "2"), g.index(), g.index(), g.pick("bit", "byte", "foo")}
	return args[:3+g.IntN(4)]
}

func (g *generator) oneOf(numbers ...int) int { return numbers[g.IntN(len(numbers))] }

func (g *generator) many() []string {
	if g.chance(3) {
		return append([]string{"mget"}, g.list(4, g.key)...)
	}
	args := []string{g.pick("mset", "msetnx")}
	for range 1 + g.IntN(3) {
		args = append(args, g.key(), g.value())
	}
	return args
}

func (g *generator) keys() []string {
	switch g.IntN(7) {
	case 0:
		return append([]string{g.pick("del", "unlink")}, g.key())
	case 1:
		return append([]string{g.pick("exists", "touch")}, g.list(4, g.key)...)
	case 2:
		return with("type", g.key())
	case 3:
		return with(g.pick("rename", "renamenx"), g.key(), g.key())
	case 4:
		return with("move", g.key(), g.pick("0", "1", "1", "x", "-1"))
	}
	args := g.some([]string{"copy", g.key(), g.key()}, 2, "replace")
	if g.chance(2) {
		args = append(args, "db", g.pick("0", "1", "99", "x"))
	}
	return g.some(args, 10, "foo")
}

func (g *generator) expire() []string {
	conditions := func(args []string) []string { return g.some(args, 5, "nx", "xx", "gt", "lt", "foo") }
	switch g.IntN(7) {
	case 0:
		return with(g.pick("ttl", "pttl", "expiretime", "pexpiretime"), g.key())
	case 1:
		return with("persist", g.key())
	case 2:
		return conditions(with("pexpire", g.key(), g.pick(g.millis(), "-1", "x", "9223372036854775807")))
	case 3:
		return conditions(with("expireat", g.key(), g.pick(strconv.Itoa(4000000000+g.IntN(1e9)), "1", "0", "-5", "9223372036854775")))
	case 4:
		return conditions(with("pexpireat", g.key(), g.pick(strconv.Itoa(4000000000000+g.IntN(1e12)), "1", "9223372036854775807")))
	}
	return conditions(with("expire", g.key(), g.pick(g.secs(), g.secs(), g.secs(), "0", "-1", "9223372036854776", "")))
}

func (g *generator) object() []string {
	switch g.IntN(4) {
	case 0:
		return with("object", g.pick("refcount", "freq", "foo"), g.key())
	case 1:
		return with("dump", g.key())
	}
	return with("object", "encoding", g.key())
}

// lcs works on keys of its own, for its time is the product of two lengths.
func (g *generator) lcs() []string {
	key := func() string { return g.pick("l1", "l2", "l3") }
	if g.chance(2) {
		return with("set", key(), strings.Repeat(g.pick("a", "ab", "ba", "abc"), g.IntN(6))+g.pick("", "xyz", "ca"))
	}
	args := g.some([]string{"lcs", key(), key()}, 3, "idx", "withmatchlen")
	if g.chance(3) {
		args = append(args, "minmatchlen", g.pick("0", "1", "2", "3", "-1", "x"))
	}
	return g.some(args, 10, "len", "foo", "minmatchlen")
}

func (g *generator) database() []string {
	switch g.IntN(6) {
	case 0:
		return with("keys", g.pick("*", "k*", "k?", "[^k]*", "*7", "{k}7", "**", "k[1-3]", `\k1`, "l*"))
	case 1:
		args := []string{"scan", "0", "count", "1000000"}
		if g.chance(2) {
			args = append(args, "match", g.pick("*", "k*", "[k-l][12]"))
		}
		if g.chance(3) {
			args = append(args, "type", g.pick("string", "hash"))
		}
		return args
	case 2:
		return with("dbsize")
	case 3:
		return with("randomkey")
	}
	return with("select", g.pick("0", "0", "1"))
}

func (g *generator) rare() []string {
	if !g.chance(10) {
		return g.set()
	}
	return g.some([]string{g.pick("flushdb", "flushdb", "flushall")}, 3, g.pick("sync", "async", "foo"))
}
