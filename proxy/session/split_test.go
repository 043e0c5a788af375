package session

import (
	"bytes"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyCommand draws commands that answer the same whenever they run.
var anyCommand = rapid.SampledFrom([]string{
	"SET a 1", "SET b text", "GET a", "GET b", "INCR a", "INCR b", "APPEND b x", "MGET a b c", "DEL a", "DBSIZE", "PING", "ECHO x",
	"SELECT 1", "SELECT 0", "SELECT 99", "MULTI", "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH a", "UNWATCH", "NOSUCH", "GET",
	"CLIENT REPLY SKIP", "CLIENT REPLY OFF", "CLIENT REPLY ON", "CLIENT SETNAME me", "CLIENT GETNAME", "HELLO 2", "HELLO 9",
	"CONFIG GET databases", "RESET", "BLPOP a 0", "SWAPDB 0 1", "ACL WHOAMI",
})

// Wherever a pipeline is cut into packets, whatever batches it makes, and wherever one
// of them stops and is left to a goroutine, the replies are the same (I13).
func TestRepliesDoNotDependOnPackets(t *testing.T) {
	srv := serve(t, func(c *Config) { c.FirstClientID = 1000 })
	rapid.Check(t, func(t *rapid.T) {
		commands := rapid.SliceOfN(anyCommand, 1, 40).Draw(t, "commands")
		text := strings.Join(commands, "\r\n") + "\r\nQUIT\r\n"
		cuts := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 20).Draw(t, "cuts")
		whole := replies(t, srv, []string{text})
		parts := replies(t, srv, cut(text, cuts))
		if !bytes.Equal(whole, parts) {
			t.Fatalf("in one packet:\n%q\nin many:\n%q", whole, parts)
		}
	})
}

// cut divides text into pieces of these lengths, over and over.
func cut(text string, lengths []int) []string {
	var list []string
	for i := 0; text != ""; i++ {
		n := min(lengths[i%len(lengths)], len(text))
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

// replies are all that a new client gets for these packets on empty databases.
// The id of the client is made equal.
func replies(t *rapid.T, srv *served, packets []string) []byte {
	conn, err := net.Dial("tcp", srv.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	srv.grid.clear()
	for _, p := range packets {
		if _, err := io.WriteString(conn, p); err != nil {
			break // QUIT may have been read already
		}
		if len(packets) > 1 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	all, _ := io.ReadAll(conn) // the connection may be reset after the last reply
	return clientID.ReplaceAll(all, []byte("id\r\n:0"))
}

// clientID is where HELLO tells it.
var clientID = regexp.MustCompile(`id\r\n:\d+`)
