package e2e

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// foreignAddress is an address of that network which is not loopback. It is one
// for documentation.
const foreignAddress = "192.0.2.1"

// TestOnlyLoopbackWithoutUsers connects from an address that is not loopback, in a
// network that nothing leaves.
func TestOnlyLoopbackWithoutUsers(t *testing.T) {
	if inNamespaces(t, syscall.CLONE_NEWNET) {
		askFromElsewhere(t)
	}
}

// setUpNetwork gives the only interface there is its two addresses.
func setUpNetwork(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	alias, err := unix.NewIfreq("lo:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := alias.SetInet4Addr(net.ParseIP(foreignAddress).To4()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, up), unix.IoctlIfreq(fd, unix.SIOCSIFADDR, alias)); err != nil {
		t.Fatal(err)
	}
}

// askFromElsewhere is the test in the network of its own.
func askFromElsewhere(t *testing.T) {
	setUpNetwork(t)
	s := newServer(t)
	_, respPort, _ := net.SplitHostPort(s.resp)
	_, httpPort, _ := net.SplitHostPort(s.http)
	s.args = []string{"--resp-bind", "0.0.0.0:" + respPort, "--http-bind", "0.0.0.0:" + httpPort}
	s.start()

	here := dial(t, s.resp)
	if got := here.ask("PING"); got != "+PONG" {
		t.Errorf("from loopback: %q", got)
	}
	for _, port := range []string{respPort, httpPort} {
		conn := dial(t, net.JoinHostPort(foreignAddress, port))
		if port == httpPort {
			conn.send("*1\r\n$4\r\nPING\r\n")
		}
		if got := conn.line(); !strings.HasPrefix(got, "-DENIED ") {
			t.Errorf("from elsewhere: %q", got)
		}
		if rest, err := conn.in.ReadString('\n'); err == nil {
			t.Errorf("after that comes %q", rest)
		}
	}
	elsewhere := *s
	elsewhere.http = net.JoinHostPort(foreignAddress, httpPort)
	elsewhere.get(t, "/health/ready", "", "").want(t, http.StatusOK)
	elsewhere.get(t, "/metrics", "", "").want(t, http.StatusForbidden)
	elsewhere.get(t, "/api/v1/security/acl", "", "").want(t, http.StatusForbidden, "user create")

	s.createUser("developer", "developer", "admin")
	conn := dial(t, net.JoinHostPort(foreignAddress, respPort))
	if got := conn.ask("AUTH developer developer"); got != "+OK" {
		t.Errorf("with a user, from elsewhere: %q", got)
	}
	elsewhere.get(t, "/metrics", "developer", "developer").want(t, http.StatusOK, "tiergrid_")
}
