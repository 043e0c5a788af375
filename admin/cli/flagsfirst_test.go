package cli

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"
)

// grammar is an app with flags at each level.
func grammar() *cli.App {
	return &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "log"}, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}}},
		Commands: []*cli.Command{
			User(Config{}),
			{Name: "bench", Flags: []cli.Flag{&cli.StringFlag{Name: "h"}, &cli.IntFlag{Name: "p"}}},
			{Name: "server", Flags: []cli.Flag{&cli.StringFlag{Name: "data"}}},
		},
	}
}

func TestFlagsFirst(t *testing.T) {
	for given, want := range map[string]string{
		"user create dev -p dev -g admin":               "user create -p dev -g admin dev",
		"user create -p dev dev -g admin":               "user create -p dev -g admin dev",
		"user create dev --json -p dev":                 "user create --json -p dev dev",
		"user create dev -p=dev --groups=a,b":           "user create -p=dev --groups=a,b dev",
		"--log x -q user create dev -p -":               "--log x -q user create -p - dev",
		"user remove -- -dev":                           "user remove -- -dev",
		"user remove --json -- -dev --url":              "user remove --json -- -dev --url",
		"user create dev -- -p":                         "user create -- dev -p",
		"user create dev --help":                        "user create --help",
		"user create dev -p -h":                         "user create -p -h dev",
		"user create dev -h -p x":                       "user create -h -p x",
		"bench -h localhost x -p 1":                     "bench -h localhost -p 1 x",
		"user create dev --nonsense":                    "user create --nonsense dev",
		"user create dev -p":                            "user create -p dev",
		"user":                                          "user",
		"user remove user":                              "user remove user",
		"nonsense x --log y":                            "--log y nonsense x",
		"":                                              "",
		"server --data d":                               "server --data d",
		"user create dev -p --generate-bash-completion": "user create dev -p --generate-bash-completion",
	} {
		got := FlagsFirst(grammar(), append([]string{"tiergrid"}, strings.Fields(given)...))
		if s := strings.Join(got, " "); s != strings.TrimSpace("tiergrid "+want) {
			t.Errorf("%q: %q, want %q", given, s, want)
		}
	}
	if got := FlagsFirst(grammar(), nil); len(got) != 0 {
		t.Errorf("no arguments at all: %q", got)
	}
}

// TestFlagsFirstLosesNothing holds for whatever is typed.
func TestFlagsFirstLosesNothing(t *testing.T) {
	words := []string{"user", "create", "remove", "dev", "-p", "--groups", "-g=a", "--json", "--", "-", "", "--url", "-q", "x y"}
	rapid.Check(t, func(t *rapid.T) {
		args := append([]string{"tiergrid"}, rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "args")...)
		count := map[string]int{}
		for _, a := range args {
			count[a]++
		}
		once := FlagsFirst(grammar(), args)
		for _, a := range once {
			count[a]--
		}
		delete(count, "--") // put in front of arguments that look like flags
		for a, n := range count {
			if n != 0 {
				t.Fatalf("%q became %q: %q is there %d times less", args, once, a, n)
			}
		}
		if twice := FlagsFirst(grammar(), once); strings.Join(twice, "\x00") != strings.Join(once, "\x00") {
			t.Fatalf("%q became %q and then %q", args, once, twice)
		}
	})
}
