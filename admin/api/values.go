package api

// User is a user without its password. Groups name the roles it has; the
// interface calls them groups where Data Grid does.
type User struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

// UserList is the answer to a request for all users, in order of their names.
type UserList struct {
	Users []User `json:"users"`
}

// NewUser asks for a user to be created.
type NewUser struct {
	Name     string   `json:"name"`
	Password string   `json:"password"`
	Groups   []string `json:"groups"`
}

// Password asks for a user's password to be replaced.
type Password struct {
	Password string `json:"password"`
}

// Groups asks for a user's groups to be replaced.
type Groups struct {
	Groups []string `json:"groups"`
}

// ACL says who the caller is and what it may do.
type ACL struct {
	User  string   `json:"user"`
	Roles []string `json:"roles"`
	// Permissions are those of the HTTP API, in the words of Data Grid.
	Permissions []string `json:"permissions"`
	// Rules is what ACL LIST shows of the user: what its commands may touch.
	Rules string `json:"rules"`
}

// Version tells builds apart.
type Version struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// The values of Health.Status.
const (
	StatusLive     = "live"
	StatusNotLive  = "not live"
	StatusReady    = "ready"
	StatusNotReady = "not ready"
)

// Health is the answer of the two health routes.
type Health struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}
