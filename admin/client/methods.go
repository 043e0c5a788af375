package client

import (
	"context"
	"net/http"

	"github.com/tiergrid/tiergrid/admin/api"
)

const (
	pathLive    = "/health/live"
	pathReady   = "/health/ready"
	pathMetrics = "/metrics"
	pathVersion = "/api/v1/version"
	pathACL     = "/api/v1/security/acl"
	pathUsers   = "/api/v1/users"
)

// Users returns all users in order of their names.
func (c *Client) Users(ctx context.Context) ([]api.User, error) {
	var list api.UserList
	err := c.call(ctx, http.MethodGet, pathUsers, nil, &list)
	return list.Users, err
}

// User returns one user.
func (c *Client) User(ctx context.Context, name string) (api.User, error) {
	var u api.User
	path, err := userPath(name)
	if err != nil {
		return u, err
	}
	err = c.call(ctx, http.MethodGet, path, nil, &u)
	return u, err
}

// CreateUser creates a user.
func (c *Client) CreateUser(ctx context.Context, u api.NewUser) error {
	return c.call(ctx, http.MethodPost, pathUsers, u, nil)
}

// SetPassword replaces the password of a user.
func (c *Client) SetPassword(ctx context.Context, name, password string) error {
	path, err := userPath(name)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPut, path+"/password", api.Password{Password: password}, nil)
}

// SetGroups replaces the groups of a user.
func (c *Client) SetGroups(ctx context.Context, name string, groups []string) error {
	path, err := userPath(name)
	if err != nil {
		return err
	}
	if groups == nil {
		groups = []string{}
	}
	return c.call(ctx, http.MethodPut, path+"/groups", api.Groups{Groups: groups}, nil)
}

// RemoveUser removes a user.
func (c *Client) RemoveUser(ctx context.Context, name string) error {
	path, err := userPath(name)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodDelete, path, nil, nil)
}

// ACL says who the client is logged in as.
func (c *Client) ACL(ctx context.Context) (api.ACL, error) {
	var acl api.ACL
	err := c.call(ctx, http.MethodGet, pathACL, nil, &acl)
	return acl, err
}

// Version says which build answers.
func (c *Client) Version(ctx context.Context) (api.Version, error) {
	var v api.Version
	err := c.call(ctx, http.MethodGet, pathVersion, nil, &v)
	return v, err
}

// Live asks whether the process works; an answer of no is no error.
func (c *Client) Live(ctx context.Context) (api.Health, error) {
	var h api.Health
	err := c.call(ctx, http.MethodGet, pathLive, nil, &h)
	return h, err
}

// Ready asks whether the server is ready; an answer of no is no error.
func (c *Client) Ready(ctx context.Context) (api.Health, error) {
	var h api.Health
	err := c.call(ctx, http.MethodGet, pathReady, nil, &h)
	return h, err
}

// Metrics returns the metrics in the text format of Prometheus.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	_, text, err := c.exchange(ctx, http.MethodGet, pathMetrics, nil)
	return text, err
}
