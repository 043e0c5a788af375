package resp

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// Kind is the type of a reply, its first byte on the wire.
type Kind byte

// The kinds of RESP2 and RESP3.
const (
	KindStatus    Kind = '+'
	KindError     Kind = '-'
	KindInt       Kind = ':'
	KindBulk      Kind = '$'
	KindArray     Kind = '*'
	KindNull      Kind = '_'
	KindDouble    Kind = ','
	KindBool      Kind = '#'
	KindBigNumber Kind = '('
	KindVerbatim  Kind = '='
	KindBulkError Kind = '!'
	KindMap       Kind = '%'
	KindSet       Kind = '~'
	KindPush      Kind = '>'
	kindAttribute Kind = '|'
)

// Value is one decoded reply.
type Value struct {
	Kind Kind
	// Null marks RESP2's null bulk string and null array, and KindNull.
	Null bool
	// Int is the number of KindInt, 1 or 0 of KindBool.
	Int int64
	// Double is the number of KindDouble.
	Double float64
	// Bytes is the text of all kinds that have one; of KindVerbatim with the
	// format in front, as "txt:...".
	Bytes []byte
	// Elems are the elements of aggregates; of KindMap keys and values in turn.
	Elems []Value
}

// Text returns the text of the reply; of KindVerbatim without the format.
func (v Value) Text() string {
	if v.Kind == KindVerbatim && len(v.Bytes) >= 4 {
		return string(v.Bytes[4:])
	}
	return string(v.Bytes)
}

// Err returns the reply as a ReplyError if it is an error.
func (v Value) Err() error {
	if v.Kind == KindError || v.Kind == KindBulkError {
		return ReplyError(v.Bytes)
	}
	return nil
}

// ReplyError is an error reply of a server, with its code.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

var (
	// ErrBadReply is returned for bytes that are no reply.
	ErrBadReply = errors.New("resp: malformed reply")
	// ErrReplyLimit is returned for a reply that exceeds ReplyLimits.
	ErrReplyLimit = errors.New("resp: reply exceeds limits")
)

// ReplyLimits bounds one reply. A zero field means its default.
type ReplyLimits struct {
	MaxBytes int // of all strings together, 1 GiB
	MaxElems int // of all aggregates together, 4 Mi
	MaxDepth int // of aggregates in each other, 64
}

func (l ReplyLimits) withDefaults() ReplyLimits {
	l.MaxBytes = limitOr(l.MaxBytes, 1<<30)
	l.MaxElems = limitOr(l.MaxElems, 4<<20)
	l.MaxDepth = limitOr(l.MaxDepth, 64)
	return l
}

// ReadReply reads one reply of either protocol version. Attributes are skipped.
// Memory grows with what arrives, not with what is announced. An error leaves
// the stream unusable. io.EOF means that it ended before the reply.
func ReadReply(r *bufio.Reader, l ReplyLimits) (Value, error) {
	if _, err := r.Peek(1); err != nil {
		return Value{}, err
	}
	d := replyDecoder{r: r, left: l.withDefaults()}
	v, err := d.value()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

// replyDecoder reads one reply; left is what remains of its limits.
type replyDecoder struct {
	r    *bufio.Reader
	left ReplyLimits
}

func (d *replyDecoder) value() (Value, error) {
	for {
		line, err := d.line()
		if err != nil {
			return Value{}, err
		}
		if Kind(line[0]) != kindAttribute {
			return d.body(Kind(line[0]), line[1:])
		}
		n, err := length(line[1:])
		if err != nil {
			return Value{}, err
		}
		if _, err := d.elems(n, 2); err != nil {
			return Value{}, err
		}
	}
}

// line reads a header or a simple reply, without its line end. It aliases the
// buffer of d.r unless it is long.
func (d *replyDecoder) line() ([]byte, error) {
	line, err := d.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = d.longLine(line)
	}
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, ErrBadReply
	}
	return line[:len(line)-2], nil
}

func (d *replyDecoder) longLine(first []byte) ([]byte, error) {
	line := append([]byte(nil), first...)
	for {
		more, err := d.r.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > d.left.MaxBytes {
			return nil, ErrReplyLimit
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

func (d *replyDecoder) body(kind Kind, rest []byte) (Value, error) {
	switch kind {
	case KindStatus, KindError:
		return d.simple(kind, rest)
	case KindInt, KindDouble, KindBool, KindBigNumber, KindNull:
		return scalar(kind, rest)
	case KindBulk, KindVerbatim, KindBulkError:
		return d.bulk(kind, rest)
	case KindArray, KindSet, KindPush:
		return d.aggregate(kind, rest, 1)
	case KindMap:
		return d.aggregate(kind, rest, 2)
	}
	return Value{}, ErrBadReply
}

func (d *replyDecoder) simple(kind Kind, rest []byte) (Value, error) {
	if err := d.spend(len(rest)); err != nil {
		return Value{}, err
	}
	return Value{Kind: kind, Bytes: append([]byte{}, rest...)}, nil
}

func (d *replyDecoder) spend(n int) error {
	if n > d.left.MaxBytes {
		return ErrReplyLimit
	}
	d.left.MaxBytes -= n
	return nil
}

func scalar(kind Kind, rest []byte) (Value, error) {
	v := Value{Kind: kind}
	text, ok := string(rest), true
	switch kind {
	case KindInt:
		var err error
		v.Int, err = strconv.ParseInt(text, 10, 64)
		ok = err == nil
	case KindDouble:
		var err error
		v.Double, err = strconv.ParseFloat(text, 64)
		ok = err == nil
		v.Bytes = []byte(text)
	case KindBool:
		ok = text == "t" || text == "f"
		if text == "t" {
			v.Int = 1
		}
	case KindBigNumber:
		ok = isDecimal(text)
		v.Bytes = []byte(text)
	case KindNull:
		v.Null, ok = true, text == ""
	}
	if !ok {
		return Value{}, ErrBadReply
	}
	return v, nil
}

func isDecimal(s string) bool {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// length reads an announced length; -1 is RESP2's null.
func length(rest []byte) (int64, error) {
	n, ok := parseInt(rest)
	if !ok || n < -1 {
		return 0, ErrBadReply
	}
	return n, nil
}

func (d *replyDecoder) bulk(kind Kind, rest []byte) (Value, error) {
	n, err := length(rest)
	if err != nil {
		return Value{}, err
	}
	if n < 0 {
		return Value{Kind: kind, Null: true}, nil
	}
	if n > int64(d.left.MaxBytes) {
		return Value{}, ErrReplyLimit
	}
	d.left.MaxBytes -= int(n)
	b, err := d.bytes(int(n))
	if err != nil {
		return Value{}, err
	}
	return Value{Kind: kind, Bytes: b}, d.lineEnd()
}

// bytes reads n bytes, growing as they arrive.
func (d *replyDecoder) bytes(n int) ([]byte, error) {
	b := make([]byte, 0, min(n, aheadMax))
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(n, 2*cap(b))), b...)
		}
		end := min(cap(b), n)
		m, err := io.ReadFull(d.r, b[len(b):end])
		b = b[:len(b)+m]
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (d *replyDecoder) lineEnd() error {
	var end [2]byte
	for i := range end {
		c, err := d.r.ReadByte()
		if err != nil {
			return err
		}
		end[i] = c
	}
	if string(end[:]) != crlf {
		return ErrBadReply
	}
	return nil
}

func (d *replyDecoder) aggregate(kind Kind, rest []byte, perItem int) (Value, error) {
	n, err := length(rest)
	if err != nil {
		return Value{}, err
	}
	if n < 0 {
		return Value{Kind: kind, Null: true}, nil
	}
	elems, err := d.elems(n, perItem)
	return Value{Kind: kind, Elems: elems}, err
}

// elems reads n times perItem values.
func (d *replyDecoder) elems(n int64, perItem int) ([]Value, error) {
	if n < 0 {
		return nil, ErrBadReply
	}
	if n > int64(d.left.MaxElems/perItem) || d.left.MaxDepth == 0 {
		return nil, ErrReplyLimit
	}
	count := int(n) * perItem
	d.left.MaxElems -= count
	d.left.MaxDepth--
	defer func() { d.left.MaxDepth++ }()
	elems := make([]Value, 0, min(count, 128))
	for range count {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		elems = append(elems, v)
	}
	return elems, nil
}
