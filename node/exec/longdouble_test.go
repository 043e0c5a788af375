package exec

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/node/resp"
)

// numberText makes numbers of all sizes and forms.
func numberText(g *generator) string {
	sign := g.pick("", "", "-", "+")
	switch g.IntN(9) {
	case 0:
		return sign + strconv.FormatUint(g.Uint64()>>g.IntN(64), 10)
	case 1:
		return sign + strconv.FormatFloat(math.Abs(g.NormFloat64())*math.Pow(10, float64(g.IntN(30)-12)), 'f', g.IntN(22), 64)
	case 2:
		return fmt.Sprintf("%s%d.%de%d", sign, g.IntN(10), g.Uint64(), g.IntN(60)-30)
	case 3:
		return fmt.Sprintf("%s%de%d", sign, g.Uint64(), g.oneOf(g.IntN(9950)-4980, 4913+g.IntN(3), -4970+g.IntN(3), g.IntN(30)))
	case 4:
		return fmt.Sprintf("%s0x%x.%xp%d", sign, g.IntN(1<<16), g.Uint64(), g.IntN(140)-70)
	case 5: // between two numbers: 2^64 + 1 is not one, nor are halves beside 2^63
		return fmt.Sprintf("%s%d%s", sign, uint64(1)<<63+uint64(g.IntN(9)), g.pick(".5", ".25", ".75", ".5000000000000000000001", ".4999999999999999999"))
	case 6:
		return sign + g.pick("0", "0.0", "1e-17", "5e-18", "4.9999e-18", "15e-18", "25e-18", "0.1", "0.2", "0.3", "3.0e3")
	case 7:
		return fmt.Sprintf("%s%d%020d%d.%d", sign, 1+g.IntN(9), g.Uint64(), g.Uint64(), g.Uint64())
	}
	return fmt.Sprintf("%s%d.%d", sign, g.IntN(1e6), g.IntN(1e6))
}

func TestIncrByFloatIsTheSameAsRedis(t *testing.T) {
	g := newGenerator(11)
	p, r := newPeer(t, 2), newRunner()
	const batch = 500
	for range 20 {
		var requests []byte
		var pairs [batch][2]string
		for i := range pairs {
			pairs[i] = [2]string{numberText(g), numberText(g)}
			requests = resp.AppendCommand(requests, "set", "f", pairs[i][0])
			requests = resp.AppendCommand(requests, "incrbyfloat", "f", pairs[i][1])
		}
		if _, err := p.conn.Write(requests); err != nil {
			t.Fatal(err)
		}
		for _, pair := range pairs {
			r.do("set", "f", pair[0])
			ours := decode(t, r.do("incrbyfloat", "f", pair[1]))
			_, theirs := readReply(t, p.src), readReply(t, p.src)
			if !bytes.Equal(ours.Bytes, theirs.Bytes) {
				t.Errorf("%s + %s = %s, redis-server: %s", pair[0], pair[1], ours.Bytes, theirs.Bytes)
			}
		}
	}
}

func readReply(t testing.TB, src *bufio.Reader) resp.Value {
	v, err := resp.ReadReply(src, resp.ReplyLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What is printed can be read, and is within half of the last decimal.
func TestLongDoubleText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mantissa := rapid.Uint64().Draw(t, "mantissa")
		exponent := rapid.IntRange(-200, 200).Draw(t, "exponent")
		var x longDouble
		x.value.SetPrec(mantissaBits).SetUint64(mantissa)
		x.value.SetMantExp(&x.value, exponent)
		text := x.text()
		printed, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no decimal number", text)
		}
		exact, _ := x.value.Rat(nil)
		off := printed.Sub(printed, exact)
		half, _ := new(big.Rat).SetString("5e-18")
		if off.Abs(off).Cmp(half) > 0 {
			t.Fatalf("%q is %s away from %s", text, off.FloatString(20), exact.FloatString(30))
		}
	})
}

func FuzzParseLongDouble(f *testing.F) {
	for _, s := range []string{"1", "-1.5e300", "0x1.8p-5", "inf", "nan", "1e-99999", "."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, ok := parseLongDouble(b)
		if !ok || x.infinite != 0 {
			return
		}
		if _, ok := parseLongDouble([]byte(x.text())); !ok {
			t.Errorf("%q is printed as %q, which cannot be read", b, x.text())
		}
		if e := x.value.MantExp(nil); e > maxExponent || x.value.Sign() != 0 && e < minExponent {
			t.Errorf("%q has exponent %d", b, e)
		}
	})
}
