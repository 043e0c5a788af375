package conversation

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
)

const (
	// replyTime is how long a reply may take.
	replyTime = 5 * time.Second
	// silence is how long nothing must come where nothing is wanted.
	silence = 150 * time.Millisecond
)

// Run plays every conversation of a script against the server at addr, and
// returns what was answered otherwise than wanted.
func Run(addr string, s *Script, peer Peer) error {
	var errs []error
	for i := range s.conversations {
		c := &s.conversations[i]
		if c.only != "" && c.only != peer {
			continue
		}
		if err := play(addr, c, peer); err != nil {
			errs = append(errs, fmt.Errorf("%s:%w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// stage is a conversation being played.
type stage struct {
	addr    string
	peer    Peer
	values  map[string]string // what named groups matched
	clients map[string]*peerConn
	now     *peerConn
	sent    []byte // not yet written
	last    string // what was sent last, for messages
}

type peerConn struct {
	net.Conn
	in *bufio.Reader
}

func play(addr string, c *conversation, peer Peer) error {
	st := &stage{addr: addr, peer: peer, values: map[string]string{}, clients: map[string]*peerConn{}}
	defer st.close()
	if err := empty(addr); err != nil {
		return fmt.Errorf("%d: %w", c.line, err)
	}
	if err := st.enter(""); err != nil {
		return fmt.Errorf("%d: %w", c.line, err)
	}
	for i := range c.steps {
		if err := st.step(&c.steps[i]); err != nil {
			return fmt.Errorf("%d: %s: %w", c.steps[i].line, c.name, err)
		}
	}
	return nil
}

// empty removes all data. A server that wants a login first is left as it is.
func empty(addr string) error {
	conn, err := connect(addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	// In array form, which a port shared with HTTP takes too.
	if _, err := conn.Write(resp.AppendCommand(nil, "FLUSHALL")); err != nil {
		return err
	}
	_, err = resp.ReadReply(conn.in, resp.ReplyLimits{})
	return err
}

func connect(addr string) (*peerConn, error) {
	conn, err := net.DialTimeout("tcp", addr, replyTime)
	if err != nil {
		return nil, err
	}
	return &peerConn{conn, bufio.NewReader(conn)}, nil
}

func (st *stage) close() {
	for _, c := range st.clients {
		c.Close()
	}
}

// enter goes on as a client.
func (st *stage) enter(name string) error {
	if c := st.clients[name]; c != nil {
		st.now = c
		return nil
	}
	c, err := connect(st.addr)
	if err != nil {
		return err
	}
	st.clients[name], st.now = c, c
	return nil
}

func (st *stage) step(s *step) error {
	if s.verb == send {
		packet, err := s.packet(st.expand(s.text))
		st.last = s.text
		st.sent = append(st.sent, packet...)
		return err
	}
	if err := st.write(); err != nil {
		return err
	}
	switch s.verb {
	case want:
		return st.want(s)
	case wantEnd:
		return st.wantEnd()
	case wantNothing:
		return st.wantNothing()
	case client:
		return st.enter(s.text)
	case shut:
		return st.now.Conn.(*net.TCPConn).CloseWrite()
	case closeConn:
		return st.now.Close()
	}
	time.Sleep(s.pause)
	return nil
}

// write sends what was collected as one packet.
func (st *stage) write() error {
	if len(st.sent) == 0 {
		return nil
	}
	packet := st.sent
	st.sent = nil
	_, err := st.now.Write(packet)
	return err
}

var name = regexp.MustCompile(`\$\{\w+\}`)

// expand puts values in place of their names.
func (st *stage) expand(text string) string {
	return name.ReplaceAllStringFunc(text, func(name string) string {
		if v, ok := st.values[name[2:len(name)-1]]; ok {
			return v
		}
		return name
	})
}

func (st *stage) want(s *step) error {
	wanted := s.text
	if st.peer == Redis && s.hasOther {
		wanted = s.other
	}
	if err := st.now.SetReadDeadline(time.Now().Add(replyTime)); err != nil {
		return err
	}
	v, err := resp.ReadReply(st.now.in, resp.ReplyLimits{})
	if err != nil {
		return fmt.Errorf("%q: %w in place of %s", st.last, err, wanted)
	}
	got := Render(v)
	ok, err := st.fits(got, wanted)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%q: answered\n\t%s\nin place of\n\t%s", st.last, got, wanted)
	}
	return nil
}

// fits compares a reply with what is wanted of it and keeps named matches.
func (st *stage) fits(got, wanted string) (bool, error) {
	pattern, found := strings.CutPrefix(wanted, "/")
	if !found { // blanks at the end of a line cannot be seen in a script
		return strings.TrimRight(got, " ") == st.expand(wanted), nil
	}
	re, err := regexp.Compile("^(?s:" + st.expand(strings.TrimSuffix(pattern, "/")) + ")$")
	if err != nil {
		return false, err
	}
	m := re.FindStringSubmatch(got)
	if m == nil {
		return false, nil
	}
	for i, name := range re.SubexpNames() {
		if name != "" {
			st.values[name] = m[i]
		}
	}
	return true, nil
}

// wantEnd wants the end of the connection and nothing before it. A reset is an
// end too.
func (st *stage) wantEnd() error {
	if err := st.now.SetReadDeadline(time.Now().Add(replyTime)); err != nil {
		return err
	}
	b, err := st.now.in.ReadByte()
	switch {
	case err == nil:
		st.now.in.UnreadByte()
		v, _ := resp.ReadReply(st.now.in, resp.ReplyLimits{})
		return fmt.Errorf("%q: answered %s (%q…) in place of the end", st.last, Render(v), b)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%q: the connection stays open", st.last)
	}
	return nil
}

func (st *stage) wantNothing() error {
	if err := st.now.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	_, err := st.now.in.Peek(1)
	switch {
	case err == nil:
		v, _ := resp.ReadReply(st.now.in, resp.ReplyLimits{})
		return fmt.Errorf("%q: answered %s in place of nothing", st.last, Render(v))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	}
	return fmt.Errorf("%q: %w in place of nothing", st.last, err)
}
