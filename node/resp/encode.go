package resp

import (
	"strconv"
	"strings"
)

// numberRoom is enough for a type byte, any int64 and the line end.
const numberRoom = 1 + 20 + 2

const crlf = "\r\n"

// Status appends a simple string. Line ends in it become spaces.
func (w *Writer) Status(s string) {
	if !w.silent() {
		w.lineString('+', s)
	}
}

// Error appends an error; text begins with its code, as in "ERR syntax error".
// Line ends around it are cut, others become spaces.
func (w *Writer) Error(text string) {
	w.lastError = text
	if !w.silent() {
		w.lineString('-', strings.Trim(text, crlf))
	}
}

// Int appends an integer.
func (w *Writer) Int(n int64) {
	if !w.silent() {
		w.header(':', n)
	}
}

// Bulk appends a copy of b as a bulk string.
func (w *Writer) Bulk(b []byte) {
	if w.silent() {
		return
	}
	if len(b) >= segmentMin {
		w.header('$', int64(len(b)))
		w.copySegment(b)
		w.literal(crlf)
		return
	}
	w.room(numberRoom + len(b) + len(crlf))
	w.header('$', int64(len(b)))
	w.cur = append(w.cur, b...)
	w.cur = append(w.cur, crlf...)
}

// BulkString appends s as a bulk string.
func (w *Writer) BulkString(s string) {
	if !w.silent() {
		w.bulkString('$', "", s)
	}
}

// BulkOwned appends b, which lies in buf, as a bulk string. buf passes to the
// Writer, which releases it when b is written or dropped: small payloads are
// copied, large ones are not. With a nil buf it is Bulk.
func (w *Writer) BulkOwned(b []byte, buf *Buffer) {
	if buf == nil {
		w.Bulk(b)
		return
	}
	if w.silent() || len(b) < ownedMin {
		w.Bulk(b)
		buf.Release()
		return
	}
	w.header('$', int64(len(b)))
	w.segment(b, buf)
	w.literal(crlf)
}

var crlfBytes = []byte(crlf)

// CanSend reports whether BulkNow may be used.
func (w *Writer) CanSend() bool { return w.poll != nil && !w.silent() }

// BulkNow appends b as a bulk string, and writes it and all that is pending as far as
// a Nonblocking destination takes it now. Only the rest of b is copied, so this is for
// large payloads that lie elsewhere. It never waits.
func (w *Writer) BulkNow(b []byte) {
	w.header('$', int64(len(b)))
	w.seal()
	pieces := append(w.list.segs, b, crlfBytes)
	n, err := w.poll.TryWriteBuffers(pieces)
	clear(pieces[len(w.list.segs):])
	w.written += int64(n)
	if err != nil {
		w.err = err
		w.Reset()
		return
	}
	before := w.listed
	if n < before {
		if n > 0 {
			w.drop(n)
		}
		w.copySegment(b)
		w.literal(crlf)
		return
	}
	w.Reset()
	switch n -= before; {
	case n < len(b):
		w.copySegment(b[n:])
		w.literal(crlf)
	case n < len(b)+len(crlf):
		w.literal(crlf[n-len(b):])
	}
}

// Null appends the null reply: in RESP2 a null bulk string.
func (w *Writer) Null() { w.either("$-1\r\n", "_\r\n") }

// NullArray appends the null reply where RESP2 has a null array.
func (w *Writer) NullArray() { w.either("*-1\r\n", "_\r\n") }

// Array begins an array of n replies.
func (w *Writer) Array(n int) { w.aggregate('*', '*', n, n) }

// Map begins a map of n pairs: in RESP2 an array of 2n.
func (w *Writer) Map(n int) { w.aggregate('*', '%', 2*n, n) }

// Set begins a set of n replies: in RESP2 an array.
func (w *Writer) Set(n int) { w.aggregate('*', '~', n, n) }

// Push begins a push message of n replies: in RESP2 an array.
func (w *Writer) Push(n int) { w.aggregate('*', '>', n, n) }

// Double appends f: in RESP2 as a bulk string.
func (w *Writer) Double(f float64) {
	if w.silent() {
		return
	}
	var digits [maxDoubleDigits]byte
	text := AppendDouble(digits[:0], f)
	w.room(numberRoom + len(text) + len(crlf))
	if w.proto == 3 {
		w.cur = append(w.cur, ',')
	} else {
		w.header('$', int64(len(text)))
	}
	w.cur = append(w.cur, text...)
	w.cur = append(w.cur, crlf...)
}

// Bool appends v: in RESP2 the integer 1 or 0.
func (w *Writer) Bool(v bool) {
	if v {
		w.either(":1\r\n", "#t\r\n")
		return
	}
	w.either(":0\r\n", "#f\r\n")
}

// BigNumber appends the decimal number s: in RESP2 as a bulk string.
func (w *Writer) BigNumber(s string) {
	switch {
	case w.silent():
	case w.proto == 3:
		w.lineString('(', s)
	default:
		w.bulkString('$', "", s)
	}
}

// Verbatim appends text with its format, of which three characters count
// ("txt", "mkd"): in RESP2 a bulk string without the format.
func (w *Writer) Verbatim(format, text string) {
	switch {
	case w.silent():
	case w.proto == 3:
		w.bulkString('=', (format + "   ")[:3]+":", text)
	default:
		w.bulkString('$', "", text)
	}
}

// Raw appends a copy of b, which is already encoded.
func (w *Writer) Raw(b []byte) {
	switch {
	case w.silent():
	case len(b) >= segmentMin:
		w.copySegment(b)
	default:
		w.room(len(b))
		w.cur = append(w.cur, b...)
	}
}

func (w *Writer) aggregate(type2, type3 byte, n2, n3 int) {
	switch {
	case w.silent():
	case w.proto == 3:
		w.header(type3, int64(n3))
	default:
		w.header(type2, int64(n2))
	}
}

func (w *Writer) either(resp2, resp3 string) {
	switch {
	case w.silent():
	case w.proto == 3:
		w.literal(resp3)
	default:
		w.literal(resp2)
	}
}

func (w *Writer) literal(s string) {
	w.room(len(s))
	w.cur = append(w.cur, s...)
}

func (w *Writer) header(kind byte, n int64) {
	w.room(numberRoom)
	b := append(w.cur, kind)
	b = strconv.AppendInt(b, n, 10)
	w.cur = append(b, crlf...)
}

// lineString appends s between kind and a line end.
func (w *Writer) lineString(kind byte, s string) {
	w.room(1 + len(s) + len(crlf))
	b := append(w.cur, kind)
	for i := range len(s) {
		c := s[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		b = append(b, c)
	}
	w.cur = append(b, crlf...)
}

// bulkString appends prefix and s as one string with its length.
func (w *Writer) bulkString(kind byte, prefix, s string) {
	n := len(prefix) + len(s)
	w.room(numberRoom + n + len(crlf))
	w.header(kind, int64(n))
	w.cur = append(w.cur, prefix...)
	w.cur = append(w.cur, s...)
	w.cur = append(w.cur, crlf...)
}

// AppendCommand appends a command in the form clients send, an array of bulk
// strings.
func AppendCommand[T ~string | ~[]byte](dst []byte, args ...T) []byte {
	dst = append(dst, '*')
	dst = strconv.AppendInt(dst, int64(len(args)), 10)
	dst = append(dst, crlf...)
	for _, a := range args {
		dst = append(dst, '$')
		dst = strconv.AppendInt(dst, int64(len(a)), 10)
		dst = append(dst, crlf...)
		dst = append(dst, a...)
		dst = append(dst, crlf...)
	}
	return dst
}
