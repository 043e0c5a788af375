package session

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// farFuture is a deadline for who has none.
var farFuture = time.Now().Add(time.Hour)

// served is a Server on loopback with a fake grid.
type served struct {
	*Server
	grid *fakeGrid
	addr string
}

// serve starts a Server that ends with the test. change may alter its Config.
func serve(t testing.TB, change func(*Config)) *served {
	t.Helper()
	g := newFakeGrid()
	cfg := Config{Grid: g, Auth: auth.New(auth.Config{}), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "0.0.0-test"}
	if change != nil {
		change(&cfg)
	}
	srv, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := srv.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-ended; err != ErrClosed {
			t.Errorf("Serve returned %v, want ErrClosed", err)
		}
	})
	return &served{srv, g, ln.Addr().String()}
}

// dial connects a client that ends with the test.
func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// expect sends raw bytes and wants exactly these back.
func expect(t testing.TB, conn net.Conn, send, want string) {
	t.Helper()
	if _, err := io.WriteString(conn, send); err != nil {
		t.Fatalf("send %.60q: %v", send, err)
	}
	got := make([]byte, len(want))
	n, err := io.ReadFull(conn, got)
	if err != nil || string(got) != want {
		t.Fatalf("%.80q answered %q (%v), want %q", send, got[:n], err, want)
	}
}

// expectEnd wants the server to close the connection without a further byte.
func expectEnd(t testing.TB, conn net.Conn) {
	t.Helper()
	rest, err := io.ReadAll(conn)
	if err != nil || len(rest) > 0 {
		t.Fatalf("got %q (%v), want the end of the connection", rest, err)
	}
}

// TestTableKnowsWhatIsBuilt: COMMAND and HELP name all that a session answers.
func TestTableKnowsWhatIsBuilt(t *testing.T) {
	for i, c := range command.Commands() {
		if handlers[i] != nil && !c.Built {
			t.Errorf("%s is answered and not marked as built", c.Name)
		}
	}
}

func TestPipelineInOrder(t *testing.T) {
	srv := serve(t, nil)
	conn := dial(t, srv.addr)
	expect(t, conn, "SET a 1\r\nINCR a\r\nPING\r\nGET a\r\nNOSUCH\r\nGET b\r\nECHO x\r\n",
		"+OK\r\n:2\r\n+PONG\r\n$1\r\n2\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n$-1\r\n$1\r\nx\r\n")
	expect(t, conn, "MULTI\r\nSET a 5\r\nSELECT 3\r\nSET b 1\r\nINCR b\r\nEXEC\r\n", "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n+OK\r\n+OK\r\n+OK\r\n:2\r\n")
	expect(t, conn, "GET b\r\nSELECT 0\r\nGET a\r\nQUIT\r\nPING\r\n", "$1\r\n2\r\n+OK\r\n$1\r\n5\r\n+OK\r\n")
	expectEnd(t, conn)
}
