package resp

import (
	"bytes"
	"math"
	"strconv"
)

// maxDoubleDigits is the longest text of a double: sign, point, 17 digits,
// exponent, and some room.
const maxDoubleDigits = 32

// AppendDouble appends f as Redis 7.2 prints doubles: the shortest digits that
// give f back, without an exponent where the number stays short, and inf, -inf,
// nan.
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < math.MaxInt64/2:
		if f == 0 && math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return appendDigits(dst, f)
}

// appendDigits places the point. scale is the power of ten of the last digit:
// plain form is chosen while it needs few extra zeros.
func appendDigits(dst []byte, f float64) []byte {
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	var space [maxDoubleDigits]byte
	digits, exp := shortest(space[:0], f)
	size := exp
	if size < 0 {
		size = -size
	}
	scale := exp - len(digits) + 1
	switch {
	case scale >= 0 && size < len(digits)+7:
		dst = append(dst, digits...)
		return appendZeros(dst, scale)
	case scale < 0 && (scale > -7 || size < 4):
		return appendDecimal(dst, digits, len(digits)+scale)
	}
	return appendExponent(dst, digits, exp)
}

// shortest returns the digits of f without point and the exponent of the first.
func shortest(space []byte, f float64) (digits []byte, exp int) {
	text := strconv.AppendFloat(space, f, 'e', -1, 64) // d[.ddd]e±dd
	e := bytes.IndexByte(text, 'e')
	exp, _ = strconv.Atoi(string(text[e+1:])) // cannot fail on what AppendFloat wrote
	if e == 1 {
		return text[:1], exp
	}
	copy(text[1:], text[2:e])
	return text[:e-1], exp
}

// appendDecimal puts the point behind the first n digits; n may be negative.
func appendDecimal(dst, digits []byte, n int) []byte {
	if n <= 0 {
		dst = appendZeros(append(dst, "0."...), -n)
		return append(dst, digits...)
	}
	dst = append(append(dst, digits[:n]...), '.')
	return append(dst, digits[n:]...)
}

func appendExponent(dst, digits []byte, exp int) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	dst = append(dst, 'e')
	if exp >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(exp), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
