package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

const (
	flagGroups = "groups"
	flagJSON   = "json"
)

// User returns the command "user" with all that can be done with users.
func User(cfg Config) *cli.Command {
	u := userCommands{cfg}
	known := strings.Join(api.KnownGroups, ", ")
	return &cli.Command{
		Name:         "user",
		Usage:        "create, list, change and remove users",
		OnUsageError: onUsage,
		Action:       noSubcommand,
		Subcommands: []*cli.Command{
			u.command("create", "NAME", "create a user", u.create, secretFlag(), groupsFlag("`GROUPS` with commas between them: "+known)),
			u.command("ls", "", "list the users", u.list),
			u.command("passwd", "NAME", "give a user another password", u.passwd, secretFlag()),
			u.command("groups", "NAME", "give a user other groups", u.groups, groupsFlag("`GROUPS` in place of those the user has: "+known+"; '' is none")),
			u.command("remove", "NAME", "remove a user", u.remove),
		},
	}
}

// noSubcommand is what a command does that only has others beneath it.
func noSubcommand(c *cli.Context) error {
	if c.Args().Present() {
		return usage("there is no command %q; see %s --help", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

func groupsFlag(about string) cli.Flag {
	return &cli.StringSliceFlag{Name: flagGroups, Aliases: []string{"g"}, Usage: about}
}

// userCommands are the actions of the command "user".
type userCommands struct{ cfg Config }

// preparation checks what a command was given, asks for what is missing, and
// returns what is to be done. The name is the command's argument.
type preparation func(c *cli.Context, name string) (step, error)

// step does it and returns what there is to show.
type step func(ctx context.Context, t *target) (result, error)

// command makes one of the commands; args describes its argument, if it has one.
func (u userCommands) command(name, args, about string, prepare preparation, flags ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name:            name,
		Usage:           about,
		ArgsUsage:       args,
		HideHelpCommand: true, // a user may be called help
		OnUsageError:    onUsage,
		Flags: slices.Concat(flags, targetFlags(u.cfg),
			[]cli.Flag{&cli.BoolFlag{Name: flagJSON, Usage: "print JSON"}}),
		Action: func(c *cli.Context) error { return withCode(u.run(c, args != "", prepare)) },
	}
}

// run does the step of one command. The target is opened last, so that nobody
// waits for it while a password is typed.
func (u userCommands) run(c *cli.Context, wantName bool, prepare preparation) error {
	if err := checkTarget(c); err != nil {
		return err
	}
	name, err := argument(c, wantName)
	if err != nil {
		return err
	}
	do, err := prepare(c, name)
	if err != nil {
		return err
	}
	t, err := openTarget(c, u.cfg, c.Command.Name == "create")
	if err != nil {
		return err
	}
	r, err := do(c.Context, t)
	if err == nil {
		err = t.Close()
	} else {
		t.Close()
	}
	if err != nil {
		return t.explain(explain(err, name))
	}
	return r.show(c, t)
}

// argument returns the name that a command wants, and refuses any other.
func argument(c *cli.Context, wanted bool) (string, error) {
	args := c.Args().Slice()
	switch {
	case wanted && len(args) == 0:
		return "", usage("the NAME of the user is missing; see %s --help", c.Command.HelpName)
	case wanted && len(args) == 1:
		return args[0], nil
	case !wanted && len(args) == 0:
		return "", nil
	}
	return "", usage("%q is one argument too many; see %s --help", args[len(args)-1], c.Command.HelpName)
}

func (u userCommands) create(c *cli.Context, name string) (step, error) {
	if err := users.CheckName(name); err != nil {
		return nil, usage("%w", err)
	}
	groups, err := groupsOf(c)
	if err != nil {
		return nil, err
	}
	password, err := u.secret(c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *target) (result, error) {
		err := t.CreateUser(ctx, api.NewUser{Name: name, Password: password, Groups: groups})
		return userResult(api.User{Name: name, Groups: groups}, "created"), err
	}, nil
}

func (u userCommands) passwd(c *cli.Context, name string) (step, error) {
	password, err := u.secret(c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *target) (result, error) {
		return done(name, "password changed"), t.SetPassword(ctx, name, password)
	}, nil
}

func (u userCommands) groups(c *cli.Context, name string) (step, error) {
	if !c.IsSet(flagGroups) {
		return nil, usage("the groups are missing: give -g GROUP[,GROUP]…, of %s", strings.Join(api.KnownGroups, ", "))
	}
	groups, err := groupsOf(c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *target) (result, error) {
		return userResult(api.User{Name: name, Groups: groups}, "changed"), t.SetGroups(ctx, name, groups)
	}, nil
}

func (u userCommands) remove(_ *cli.Context, name string) (step, error) {
	return func(ctx context.Context, t *target) (result, error) {
		if err := t.RemoveUser(ctx, name); err != nil {
			return result{}, err
		}
		r := done(name, "removed")
		if left, err := t.Users.Users(ctx); err == nil && len(left) == 0 {
			r.text += "\n" + withoutUsers
		}
		return r, nil
	}, nil
}

func (u userCommands) list(*cli.Context, string) (step, error) {
	return func(ctx context.Context, t *target) (result, error) {
		all, err := t.Users.Users(ctx)
		return listResult(all), err
	}, nil
}

// groupsOf returns the groups that were given; never nil.
func groupsOf(c *cli.Context) ([]string, error) {
	groups := []string{}
	for _, g := range c.StringSlice(flagGroups) {
		if g = strings.TrimSpace(g); g != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups, api.CheckGroups(groups)
}

// secret returns the password that the user is to have.
func (u userCommands) secret(c *cli.Context) (string, error) {
	password, err := secret(c, u.cfg.Terminal)
	if err != nil {
		return "", err
	}
	if err := users.CheckPassword([]byte(password)); err != nil {
		return "", usage("%w", err)
	}
	return password, nil
}
