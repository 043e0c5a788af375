package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/admin/client"
)

// Users is where users are kept: a server, or a data directory while no server
// runs on it. Errors match api.ErrUserExists and api.ErrNoUser where they apply.
type Users interface {
	Users(ctx context.Context) ([]api.User, error)
	CreateUser(ctx context.Context, u api.NewUser) error
	SetPassword(ctx context.Context, name, password string) error
	SetGroups(ctx context.Context, name string, groups []string) error
	RemoveUser(ctx context.Context, name string) error
	Close() error
}

// Config is what the commands need from the binary.
type Config struct {
	// Data is the data directory where none is named.
	Data string
	// Offline opens the users of a data directory on which no server runs. With
	// create it makes the directory where there is none; without, a missing one
	// is an error.
	Offline func(ctx context.Context, dataDir string, create bool) (Users, error)
	// URL is where a server is looked for when none is named.
	// client.DefaultURL where empty.
	URL string
	// Terminal asks for a password without showing it. The zero value uses the
	// terminal of the process.
	Terminal Terminal
}

const (
	flagData     = "data"
	flagURL      = "url"
	flagUser     = "user"
	flagPassword = "password"
)

// environment names the variable that stands in for a flag. The parser does not
// read them, as it would not tell then what stands on the command line.
var environment = map[string]string{
	flagData:     "TIERGRID_DATA",
	flagURL:      "TIERGRID_URL",
	flagUser:     "TIERGRID_USER",
	flagPassword: "TIERGRID_PASSWORD",
}

// probeTimeout bounds the search for a server that nobody named.
const probeTimeout = 2 * time.Second

// targetFlags are the flags that say whom a command talks to.
func targetFlags(cfg Config) []cli.Flag {
	flag := func(name, about, unset string) cli.Flag {
		return &cli.StringFlag{Name: name, Category: "whom to talk to", DefaultText: unset,
			Usage: about + " [$" + environment[name] + "]"}
	}
	return []cli.Flag{
		flag(flagData, "data `DIR`: the server that runs on it, or the directory itself", cfg.Data),
		flag(flagURL, "`URL` of the HTTP port of a server", cfg.defaultURL()),
		flag(flagUser, "`NAME` to log in with at the URL", ""),
		flag(flagPassword, "`PASSWORD` to log in with at the URL", ""),
	}
}

func (c Config) defaultURL() string {
	if c.URL != "" {
		return c.URL
	}
	return client.DefaultURL
}

// target is whom a command talks to.
type target struct {
	Users
	place   string // a URL, a socket or a directory
	login   string // the user it logs in as
	offline bool
}

// setting is the value of a flag, or what the environment has for it.
func setting(c *cli.Context, name string) string {
	if c.IsSet(name) {
		return c.String(name)
	}
	return os.Getenv(environment[name])
}

// checkTarget refuses flags that contradict each other.
func checkTarget(c *cli.Context) error {
	switch {
	case c.IsSet(flagURL) && c.IsSet(flagData):
		return usage("give one of --url and --data")
	case c.IsSet(flagPassword) && setting(c, flagUser) == "":
		return usage("--password is the one to log in with and needs --user; the password of the user at hand is -p")
	}
	return nil
}

// openTarget finds the server or opens the directory. What stands on the command
// line goes before what the environment says. create allows to make a data
// directory.
func openTarget(c *cli.Context, cfg Config, create bool) (*target, error) {
	url, dir := setting(c, flagURL), setting(c, flagData)
	switch {
	case c.IsSet(flagData):
		return directory(c.Context, cfg, dir, create)
	case url != "":
		return remote(c, url)
	case dir != "":
		return directory(c.Context, cfg, dir, create)
	case setting(c, flagUser) != "":
		return remote(c, cfg.defaultURL())
	}
	return search(c, cfg, create)
}

// remote is the server at a URL.
func remote(c *cli.Context, url string) (*target, error) {
	login := setting(c, flagUser)
	cl, err := client.New(client.Config{URL: url, User: login, Password: setting(c, flagPassword)})
	if err != nil {
		return nil, &exitError{err, ExitUsage}
	}
	return &target{Users: cl, place: cl.Place(), login: login}, nil
}

// directory is the server on a data directory, or the directory itself.
func directory(ctx context.Context, cfg Config, dir string, create bool) (*target, error) {
	t, err := owner(ctx, dir)
	if !errors.Is(err, client.ErrUnreachable) {
		return t, err
	}
	store, err := cfg.Offline(ctx, dir, create)
	if err != nil {
		return nil, fmt.Errorf("no server answers at %s, and the directory cannot be used without one: %w",
			client.SocketPath(dir), err)
	}
	return &target{Users: store, place: dir, offline: true}, nil
}

// owner is the server on a data directory, through its admin socket.
func owner(ctx context.Context, dir string) (*target, error) {
	path := client.SocketPath(dir)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s", client.ErrUnreachable, path)
	}
	cl, err := client.New(client.Config{Socket: path})
	if err != nil {
		return nil, err
	}
	if err := probe(ctx, cl); err != nil {
		return nil, err
	}
	return &target{Users: cl, place: cl.Place()}, nil
}

// probe checks that a server is there; if not it closes the client.
func probe(ctx context.Context, cl *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := cl.Live(ctx)
	if err != nil {
		cl.Close()
	}
	return err
}

// search looks where a server usually is: on the default data directory, then at
// the default URL. Where there is none, the command works on the directory.
func search(c *cli.Context, cfg Config, create bool) (*target, error) {
	t, err := owner(c.Context, cfg.Data)
	if !errors.Is(err, client.ErrUnreachable) {
		return t, err
	}
	cl, err := client.New(client.Config{URL: cfg.defaultURL()})
	if err != nil {
		return nil, err
	}
	t = &target{Users: cl, place: cl.Place()}
	switch err := probe(c.Context, cl); {
	case err == nil:
		return t, nil
	case !create && !exists(cfg.Data):
		return nil, t.explain(err)
	}
	return directory(c.Context, cfg, cfg.Data, create)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
