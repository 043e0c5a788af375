package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// ErrReply is an error reply of the server; the text follows it.
var ErrReply = errors.New("error reply")

const (
	askTimeout = 10 * time.Second
	maxReply   = 512 << 20
	bufferSize = 64 << 10
)

// Conn is a RESP2 connection.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	stop func() bool // ends the watch over the context of Dial
}

// Dial connects to a RESP address. The end of ctx closes the connection, so that
// nobody waits for a mute server longer than he wants.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	conn := newConn(c, bufferSize)
	conn.stop = context.AfterFunc(ctx, func() { c.Close() })
	return conn, nil
}

func newConn(c net.Conn, buffer int) *Conn {
	return &Conn{conn: c, in: bufio.NewReaderSize(c, buffer), stop: func() bool { return true }}
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.stop()
	return c.conn.Close()
}

// Do sends a command and returns its reply, which must not be an array. It fails
// when no reply comes within ten seconds.
func (c *Conn) Do(args ...string) (string, error) {
	if err := c.conn.SetDeadline(time.Now().Add(askTimeout)); err != nil {
		return "", err
	}
	var b []byte
	b = appendHead(b, '*', len(args))
	for _, a := range args {
		b = appendBulk(b, []byte(a))
	}
	if _, err := c.conn.Write(b); err != nil {
		return "", err
	}
	return c.reply()
}

// reply reads one reply. An error reply is an error that wraps ErrReply.
func (c *Conn) reply() (string, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	text := strings.TrimSuffix(string(line), "\r\n")
	if len(text)+2 != len(line) || text == "" {
		return "", fmt.Errorf("no RESP reply: %q", line)
	}
	switch kind, rest := text[0], text[1:]; kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", fmt.Errorf("%w: %s", ErrReply, rest)
	case '$':
		return c.bulk(rest)
	default:
		return "", fmt.Errorf("reply of a kind not expected here: %q", text)
	}
}

// bulk reads the rest of a bulk string of the given length; a null is empty.
func (c *Conn) bulk(length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < -1 || n > maxReply {
		return "", fmt.Errorf("bulk length %q", length)
	}
	if n == -1 {
		return "", nil
	}
	var b bytes.Buffer // grows as data comes, whatever was announced
	if _, err := io.CopyN(&b, c.in, int64(n)+2); err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(b.String(), "\r\n")
	if !ok {
		return "", errors.New("a bulk string is longer than it said")
	}
	return text, nil
}

// Ping connects, asks for one PONG and closes.
func Ping(ctx context.Context, addr string) error {
	c, err := Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.pong()
}

// pong asks for one PONG.
func (c *Conn) pong() error {
	reply, err := c.Do("PING")
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("PING answered %q", reply)
	}
	return err
}

// Info asks for a section of INFO and returns its lines as a map.
func Info(ctx context.Context, addr, section string) (map[string]string, error) {
	c, err := Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	text, err := c.Do("INFO", section)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			lines[name] = value
		}
	}
	return lines, nil
}

func appendHead(b []byte, kind byte, n int) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, '\r', '\n')
}

func appendBulk(b, value []byte) []byte {
	b = appendHead(b, '$', len(value))
	b = append(b, value...)
	return append(b, '\r', '\n')
}
