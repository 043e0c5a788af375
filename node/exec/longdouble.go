package exec

import (
	"bytes"
	"math/big"
	"strings"
)

// A longDouble is a number as INCRBYFLOAT of Redis on x86-64 computes with it: 64
// bits of mantissa and 15 of exponent (x87 extended precision). Results must be
// equal to the last digit, for data moves between the two. The zero value is 0.
//
// Numbers below the normal range keep their full mantissa here. That is never
// seen: what is printed has 17 decimals, and a sum with a larger number rounds
// such a number away either way.
type longDouble struct {
	value    big.Float // of mantissaBits, unless infinite
	infinite int       // the sign of an infinity, or 0
}

const (
	mantissaBits = 64
	// maxExponent and minExponent bound x in 0.5·2^x ≤ |value| < 2^x: above is
	// infinity, and half the smallest denormal number or less is zero.
	maxExponent = 16384
	minExponent = -16445
	// longestNumber is the length from which Redis does not even look.
	longestNumber = 5 << 10
	// decimals is how many digits are printed after the point.
	decimals = 17
)

// parseLongDouble reads what C's strtold reads: a decimal or hexadecimal number
// or an infinity, and nothing else around it. What overflows to an infinity or
// underflows to zero is refused, and so is "nan".
func parseLongDouble(b []byte) (longDouble, bool) {
	if len(b) == 0 || len(b) >= longestNumber {
		return longDouble{}, false
	}
	sign := 1
	if b[0] == '-' || b[0] == '+' {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	if is(b, "inf") || is(b, "infinity") {
		return longDouble{infinite: sign}, true
	}
	d, ok := scanNumber(b)
	if !ok {
		return longDouble{}, false
	}
	return d.round(sign)
}

// digits are a number as it is written: mantissa · base^exponent.
type digits struct {
	mantissa big.Int
	base     int64 // 10, or 2 for a hexadecimal number
	exponent int64
}

// scanNumber takes an unsigned number apart.
func scanNumber(b []byte) (*digits, bool) {
	radix, mark, base, perDigit := 10, byte('e'), int64(10), int64(1)
	if len(b) > 2 && b[0] == '0' && lower(b[1]) == 'x' {
		radix, mark, base, perDigit = 16, 'p', 2, 4
		b = b[2:]
	}
	whole, exponent := splitExponent(b, mark)
	before, after, _ := bytes.Cut(whole, []byte{'.'})
	text := string(before) + string(after)
	d := &digits{base: base}
	if !allDigits(text, radix) {
		return nil, false
	}
	d.mantissa.SetString(text, radix)
	if exponent != nil {
		n, ok := parseExponent(exponent)
		if !ok {
			return nil, false
		}
		d.exponent = n
	}
	d.exponent -= int64(len(after)) * perDigit
	return d, true
}

// splitExponent cuts at the exponent's letter; exponent is nil without one.
func splitExponent(b []byte, mark byte) (whole, exponent []byte) {
	for i := range b {
		if lower(b[i]) == mark {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

func allDigits(s string, radix int) bool {
	set := "0123456789abcdefABCDEF"
	if radix == 10 {
		set = set[:10]
	}
	return s != "" && strings.Trim(s, set) == ""
}

// parseExponent reads a decimal exponent and cuts it off far outside of what any
// mantissa could bring back into range.
func parseExponent(b []byte) (int64, bool) {
	sign := int64(1)
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	if !allDigits(string(b), 10) {
		return 0, false
	}
	const far = 1 << 20
	var n int64
	for _, c := range b {
		n = min(n*10+int64(c-'0'), far)
	}
	return sign * n, true
}

// round turns digits into the nearest longDouble.
func (d *digits) round(sign int) (longDouble, bool) {
	var x longDouble
	x.value.SetPrec(mantissaBits)
	if d.mantissa.Sign() != 0 && !d.scale(&x.value) {
		return x, false
	}
	if sign < 0 {
		x.value.Neg(&x.value)
	}
	return x, true
}

// scale sets z to mantissa·base^exponent, rounded once. It reports false where
// that overflows or underflows; the estimate in front keeps the powers small.
func (d *digits) scale(z *big.Float) bool {
	log := 1.0 // of base, to base 2
	if d.base == 10 {
		log = 3.3219280948873623
	}
	size := float64(d.mantissa.BitLen()) + float64(d.exponent)*log
	if size > maxExponent+8 || size < minExponent-8 {
		return false
	}
	var power, above, below big.Int
	power.Exp(big.NewInt(d.base), big.NewInt(max(d.exponent, -d.exponent)), nil)
	if d.exponent >= 0 {
		above.Mul(&d.mantissa, &power)
		below.SetInt64(1)
	} else {
		above.Set(&d.mantissa)
		below.Set(&power)
	}
	z.Quo(new(big.Float).SetInt(&above), new(big.Float).SetInt(&below)) // both are exact
	exponent := z.MantExp(nil)
	return exponent <= maxExponent && !underflows(&above, &below, exponent)
}

// underflows tells whether a positive quotient rounds to zero: half the smallest
// denormal number still does, for ties go to the even neighbour.
func underflows(above, below *big.Int, exponent int) bool {
	return exponent <= minExponent && new(big.Int).Lsh(above, 1-minExponent).Cmp(below) <= 0
}

// add returns the rounded sum, and false where it is no finite number.
func (x *longDouble) add(y longDouble) (longDouble, bool) {
	var sum longDouble
	if x.infinite != 0 || y.infinite != 0 {
		return sum, false
	}
	sum.value.SetPrec(mantissaBits).Add(&x.value, &y.value)
	return sum, sum.value.MantExp(nil) <= maxExponent
}

// text is the number without an exponent, rounded to 17 decimals, without zeros
// at the end.
func (x *longDouble) text() string {
	s := strings.TrimRight(x.value.Text('f', decimals), "0")
	s = strings.TrimSuffix(s, ".")
	if s == "-0" {
		return "0"
	}
	return s
}
