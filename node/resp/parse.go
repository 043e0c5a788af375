package resp

import (
	"bytes"
	"math"
)

// parse continues with what is buffered until a command is complete or more
// bytes are needed. It is a loop over states kept in r, so input may be cut
// anywhere.
func (r *Reader) parse() (bool, error) {
	for {
		if r.left > 0 {
			return r.parseArgs()
		}
		if r.rd == r.wr {
			return false, nil
		}
		if r.buf[r.rd] != '*' {
			done, more, err := r.parseInline()
			if done || more || err != nil {
				return done, err
			}
			continue
		}
		n, ok, err := r.header(errMultibulkHeaderSize)
		if !ok {
			return false, err
		}
		if r.left, err = r.lim.checkArgs(n); err != nil {
			return false, err
		}
	}
}

func (r *Reader) parseArgs() (bool, error) {
	for r.left > 0 {
		if r.bulk == noBulk {
			if ok, err := r.bulkHeader(); !ok {
				return false, err
			}
		}
		if !r.takeBulk() {
			return false, nil
		}
		r.bulk = noBulk
		r.left--
	}
	return true, nil
}

// bulkHeader reads "$<length>\r\n" into r.bulk.
func (r *Reader) bulkHeader() (bool, error) {
	if r.rd == r.wr {
		return false, nil
	}
	first := r.buf[r.rd]
	n, ok, err := r.header(errBulkHeaderSize)
	if !ok {
		return false, err
	}
	if first != '$' {
		return false, errExpectedBulk(first)
	}
	if err := r.lim.checkBulk(n); err != nil {
		return false, err
	}
	r.size += int(n) + argOverhead
	if r.size > r.lim.MaxCommand {
		return false, errCommandSize
	}
	r.bulk = int(n)
	return true, nil
}

// takeBulk adds the argument being read if all of it, and the two bytes behind
// it, are there. As in Redis those two bytes may be anything.
func (r *Reader) takeBulk() bool {
	need := r.bulk + 2
	if r.body != nil {
		return r.takeBody(need)
	}
	if r.wr-r.rd >= need {
		end := r.rd + r.bulk
		r.args.add(r.buf[r.rd:end:end])
		r.rd += need
		r.live = true
		return true
	}
	if need > maxChunked {
		r.startBody(need)
	}
	return false
}

func (r *Reader) takeBody(need int) bool {
	if len(r.body.B) < need {
		return false
	}
	r.args.add(r.body.B[:r.bulk:r.bulk])
	r.held = append(r.held, r.body)
	r.body = nil
	r.proven = max(r.proven, need)
	r.window = smallChunk
	return true
}

// badNumber stands for a header that is no number: above every limit.
const badNumber = math.MaxInt64

// header reads the number of the header at rd and consumes it. A header that
// is not a number gives badNumber. tooBig is the error for one without an end.
func (r *Reader) header(tooBig error) (n int64, ok bool, err error) {
	if v, used := shortHeader(r.buf[r.rd:r.wr]); used > 0 {
		r.rd += used
		r.scanned = 0
		return v, true, nil
	}
	line, err := r.line('\r', 1, tooBig)
	if line == nil {
		return 0, false, err
	}
	if len(line) == 0 {
		return badNumber, true, nil // the line end stands where its type should
	}
	n, valid := parseInt(line[1:])
	if !valid {
		n = badNumber
	}
	return n, true, nil
}

// shortHeader reads a complete "?<digits>\r\n" of up to nine digits, by far
// the commonest form. used is 0 for everything else.
func shortHeader(b []byte) (v int64, used int) {
	for i := 1; i < len(b)-1 && i <= 10; i++ {
		digit := b[i] - '0'
		if digit <= 9 {
			v = v*10 + int64(digit)
			continue
		}
		if b[i] != '\r' || i == 1 || b[1] == '0' && i > 2 {
			return 0, 0
		}
		return v, i + 2
	}
	return 0, 0
}

// line consumes the bytes up to end and extra bytes behind it. It returns them
// without end, never nil, or nil if more input is needed. A line longer than
// MaxInline is the error tooBig, however the input was cut.
func (r *Reader) line(end byte, extra int, tooBig error) ([]byte, error) {
	token := r.buf[r.rd:r.wr]
	reach := min(len(token), r.lim.MaxInline+1)
	at := bytes.IndexByte(token[min(r.scanned, reach):reach], end)
	if at < 0 {
		r.scanned = reach
		if len(token) > r.lim.MaxInline {
			return nil, tooBig
		}
		return nil, nil
	}
	at += r.scanned
	if at+1+extra > len(token) {
		r.scanned = at
		return nil, nil
	}
	r.scanned = 0
	r.rd += at + 1 + extra
	return token[:at], nil
}

// parseInt reads a decimal as Redis does: no plus sign, no leading zeros, no
// spaces, nothing outside int64.
func parseInt(b []byte) (n int64, ok bool) {
	negative := len(b) > 1 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 || b[0] == '0' && (len(b) > 1 || negative) {
		return 0, false
	}
	var v uint64 // 19 digits cannot overflow it
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	if negative {
		return -int64(v), v <= 1<<63
	}
	return int64(v), v <= math.MaxInt64
}

// checkArgs judges the announced number of arguments; nothing or less means an
// empty command.
func (l *Limits) checkArgs(n int64) (int, error) {
	switch {
	case n > math.MaxInt32:
		return 0, errMultibulkLength
	case n <= 0:
		return 0, nil
	case n > int64(l.MaxArgs) && l.Unauthenticated:
		return 0, errMultibulkUnauth
	case n > int64(l.MaxArgs):
		return 0, errMultibulkLength
	}
	return int(n), nil
}

func (l *Limits) checkBulk(n int64) error {
	switch {
	case n < 0:
		return errBulkLength
	case n <= int64(l.MaxBulk):
		return nil
	case l.Unauthenticated && n <= DefaultMaxBulk:
		return errBulkUnauth
	}
	return errBulkLength
}
