package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tiergrid/tiergrid/admin/internal/socket"
)

var (
	// ErrUnreachable says that no server answers.
	ErrUnreachable = errors.New("no server answers")
	// ErrNotAPI says that what answers is not the API.
	ErrNotAPI = errors.New("the answer is not one of the tiergrid API")
)

// DefaultURL is where a server listens that was not told otherwise.
const DefaultURL = "http://127.0.0.1:11222"

const defaultTimeout = 30 * time.Second

// Config says whom to call: URL or Socket must be set.
type Config struct {
	// URL is the root of the server. A user and password in it are used where
	// User is empty.
	URL            string
	User, Password string
	// Socket is the path of an admin socket; see SocketPath.
	Socket string
	// Timeout bounds each call. 30s
	Timeout time.Duration
}

// Client calls one server.
type Client struct {
	root           *url.URL
	user, password string
	place          string // for errors
	http           *http.Client
}

// SocketPath returns the path of the admin socket of a data directory.
func SocketPath(dataDir string) string { return socket.Path(dataDir) }

// New returns a client; it does not connect yet.
func New(cfg Config) (*Client, error) {
	if (cfg.URL == "") == (cfg.Socket == "") {
		return nil, errors.New("client: set one of URL and Socket")
	}
	c := &Client{user: cfg.User, password: cfg.Password}
	transport := &http.Transport{MaxIdleConns: 4, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}
	if cfg.Socket != "" {
		c.root = &url.URL{Scheme: "http", Host: "localhost"}
		c.place = cfg.Socket
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return socket.Dial(ctx, cfg.Socket)
		}
	} else if err := c.setURL(cfg.URL); err != nil {
		return nil, err
	}
	c.http = &http.Client{
		Transport:     transport,
		Timeout:       timeoutOf(cfg),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

func timeoutOf(cfg Config) time.Duration {
	if cfg.Timeout > 0 {
		return cfg.Timeout
	}
	return defaultTimeout
}

// setURL takes the root apart. A URL without a scheme is completed.
func (c *Client) setURL(raw string) error {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("client: the URL cannot be read; write it as http://HOST:PORT")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("client: URL %s: write it as http://HOST:PORT", u.Redacted())
	}
	if u.User != nil && c.user == "" {
		c.user = u.User.Username()
		c.password, _ = u.User.Password()
	}
	u.User = nil
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(u.Path, "/"), "", ""
	c.root, c.place = u, u.String()
	return nil
}

// Place says whom the client calls.
func (c *Client) Place() string { return c.place }

// Close ends the idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// unreachable explains why there was no answer.
func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: permission denied; only the owner of the data directory may use its admin socket", c.place)
	}
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err // the place is named already
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		err = dial.Err // so it is here
	}
	return fmt.Errorf("%w at %s: %w", ErrUnreachable, c.place, err)
}
