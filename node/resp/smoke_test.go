package resp

import (
	"bufio"
	"bytes"
	"testing"
	"testing/iotest"
)

func TestRoundTripByteByByte(t *testing.T) {
	var in []byte
	for range 50 {
		in = AppendCommand(in, "SET", "key", string(bytes.Repeat([]byte("v"), 20000)))
		in = AppendCommand(in, "GET", "k")
		in = append(in, "ping \"a\\x41\"\r\n"...)
	}
	r := NewReader(iotest.OneByteReader(bytes.NewReader(in)), Limits{})
	w := NewWriter(nil, 2)
	for i := range 150 {
		args, err := r.Next()
		if err != nil {
			t.Fatal(i, err)
		}
		for _, a := range args {
			w.Bulk(a)
		}
		r.Release()
	}
	br := bufio.NewReader(bytes.NewReader(w.Bytes()))
	for i := range 50 * 7 {
		v, err := ReadReply(br, ReplyLimits{})
		if err != nil || v.Kind != KindBulk {
			t.Fatal(i, v, err)
		}
	}
}
