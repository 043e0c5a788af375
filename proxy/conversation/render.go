package conversation

import (
	"strconv"
	"strings"

	"github.com/tiergrid/tiergrid/node/resp"
)

// Render writes a reply on one line, as scripts do.
func Render(v resp.Value) string {
	var b strings.Builder
	render(&b, v)
	return b.String()
}

func render(b *strings.Builder, v resp.Value) {
	switch {
	case v.Null && v.Kind == resp.KindArray:
		b.WriteString("*nil")
		return
	case v.Null:
		b.WriteString("nil")
		return
	}
	switch v.Kind {
	case resp.KindBulk:
		quote(b, v.Bytes)
	case resp.KindVerbatim:
		b.WriteByte('=')
		b.Write(v.Bytes[:4])
		quote(b, v.Bytes[4:])
	case resp.KindInt:
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(v.Int, 10))
	case resp.KindBool:
		b.WriteString([]string{"#f", "#t"}[v.Int])
	case resp.KindDouble:
		b.WriteByte(',')
		b.Write(resp.AppendDouble(nil, v.Double))
	case resp.KindMap:
		renderMap(b, v.Elems)
	case resp.KindArray, resp.KindSet, resp.KindPush:
		renderList(b, v)
	default:
		b.WriteByte(byte(v.Kind))
		b.Write(v.Bytes)
	}
}

func renderList(b *strings.Builder, v resp.Value) {
	if v.Kind != resp.KindArray {
		b.WriteByte(byte(v.Kind))
	}
	b.WriteByte('[')
	for i, e := range v.Elems {
		if i > 0 {
			b.WriteString(", ")
		}
		render(b, e)
	}
	b.WriteByte(']')
}

func renderMap(b *strings.Builder, elems []resp.Value) {
	b.WriteByte('{')
	for i := 0; i+1 < len(elems); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		render(b, elems[i])
		b.WriteString(": ")
		render(b, elems[i+1])
	}
	b.WriteByte('}')
}

// quote writes bytes between quotes; only printable ASCII stands for itself.
func quote(b *strings.Builder, text []byte) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c > '~':
			b.WriteString(`\x`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}
