package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/tiergrid/tiergrid/admin/api"
)

// maxAnswer bounds the body of an answer, in bytes.
const maxAnswer = 8 << 20

// call sends in, unless it is nil, and decodes the answer into out, unless that
// is nil.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	_, body, err := c.exchange(ctx, method, path, in)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%w: %s %s at %s: %w", ErrNotAPI, method, path, c.place, err)
	}
	return nil
}

// exchange sends one request; an answer that is a problem becomes an error.
func (c *Client) exchange(ctx context.Context, method, path string, in any) (int, []byte, error) {
	req, err := c.request(ctx, method, path, in)
	if err != nil {
		return 0, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, nil, c.unreachable(err)
	case len(body) > maxAnswer:
		return 0, nil, fmt.Errorf("%w: more than %d bytes from %s", ErrNotAPI, maxAnswer, c.place)
	}
	return resp.StatusCode, body, c.failure(resp, body)
}

// request makes a request for a path below the root; path is escaped already.
func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.root.String()+path, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.user != "" {
		req.SetBasicAuth(c.user, c.password)
	}
	return req, nil
}

// failure is nil for an answer that is no error.
func (c *Client) failure(resp *http.Response, body []byte) error {
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media == api.ProblemType {
		p := &api.Problem{}
		if err := json.Unmarshal(body, p); err == nil {
			return p
		}
	}
	if resp.StatusCode/100 == 2 || isHealth(resp.Request) {
		return nil
	}
	return fmt.Errorf("%w: %s from %s", ErrNotAPI, resp.Status, c.place)
}

// isHealth says that an answer of any status may carry a value.
func isHealth(req *http.Request) bool {
	return strings.HasSuffix(req.URL.Path, pathLive) || strings.HasSuffix(req.URL.Path, pathReady)
}

// userPath returns the path of a user. Names that a path cannot carry are
// refused; no user has such a name.
func userPath(name string) (string, error) {
	if name == "" || name == "." || name == ".." {
		return "", fmt.Errorf("user %q: %w", name, api.ErrNoUser)
	}
	return pathUsers + "/" + url.PathEscape(name), nil
}
