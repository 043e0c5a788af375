package api

import (
	"errors"
	"net/http"
	"strings"
)

// What a request may fail with. A Problem matches the one it stands for.
var (
	ErrBadRequest   = errors.New("bad request")
	ErrUnknownGroup = errors.New("unknown group")
	// ErrLogin refuses a request without a login or with a wrong one; it never
	// says which part was wrong.
	ErrLogin     = errors.New("login required: user or password is missing or wrong")
	ErrForbidden = errors.New("permission denied")
	// ErrLocalOnly refuses a remote caller while there is no user.
	ErrLocalOnly  = errors.New("only local connections are allowed")
	ErrNotFound   = errors.New("not found")
	ErrNoUser     = errors.New("no such user")
	ErrMethod     = errors.New("method not allowed")
	ErrUserExists = errors.New("user exists")
	ErrTooLarge   = errors.New("request too large")
	ErrMediaType  = errors.New("unsupported media type")
	// ErrBusy asks the caller to come back: too much is going on at the moment.
	ErrBusy        = errors.New("busy")
	ErrUnavailable = errors.New("unavailable")
	ErrInternal    = errors.New("internal error")
)

// kind is one kind of problem.
type kind struct {
	err    error
	name   string
	status int
	title  string
}

// kinds is searched from the top, so what is more special stands first.
var kinds = []kind{
	{ErrUnknownGroup, "unknown-group", http.StatusBadRequest, "Unknown group"},
	{ErrBadRequest, "bad-request", http.StatusBadRequest, "Bad request"},
	{ErrLogin, "login-required", http.StatusUnauthorized, "Login required"},
	{ErrLocalOnly, "local-only", http.StatusForbidden, "Local connections only"},
	{ErrForbidden, "forbidden", http.StatusForbidden, "Permission denied"},
	{ErrNoUser, "no-such-user", http.StatusNotFound, "No such user"},
	{ErrNotFound, "not-found", http.StatusNotFound, "Not found"},
	{ErrMethod, "method-not-allowed", http.StatusMethodNotAllowed, "Method not allowed"},
	{ErrUserExists, "user-exists", http.StatusConflict, "User exists"},
	{ErrTooLarge, "too-large", http.StatusRequestEntityTooLarge, "Request too large"},
	{ErrMediaType, "media-type", http.StatusUnsupportedMediaType, "Unsupported media type"},
	{ErrBusy, "busy", http.StatusServiceUnavailable, "Busy"},
	{ErrUnavailable, "unavailable", http.StatusServiceUnavailable, "Unavailable"},
	{ErrInternal, "internal", http.StatusInternalServerError, "Internal error"},
}

// typePrefix makes a URI of a problem's name.
const typePrefix = "urn:tiergrid:problem:"

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Problem is an error as the API answers it (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// NewProblem makes a problem of an error. An error of no known kind becomes an
// internal error whose text stays in the server.
func NewProblem(err error) *Problem {
	for _, k := range kinds {
		if errors.Is(err, k.err) && k.err != ErrInternal {
			detail := strings.TrimPrefix(err.Error(), k.err.Error()+": ") // the title says it
			return &Problem{typePrefix + k.name, k.title, k.status, detail}
		}
	}
	k := kinds[len(kinds)-1]
	return &Problem{typePrefix + k.name, k.title, k.status, "the reason is in the log of the server"}
}

// Error is the detail, or the title where there is none.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// Unwrap returns the error that the problem stands for, or nil.
func (p *Problem) Unwrap() error {
	for _, k := range kinds {
		if p.Type == typePrefix+k.name {
			return k.err
		}
	}
	return nil
}
