package main

import (
	"context"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/cmd/tiergrid/config"
)

// defaultData is the data directory where none is named.
const defaultData = "data"

const flagConfig = "config"

// setting is one flag that goes before what the configuration file says.
type setting struct {
	name, env, usage string
	set              func(c *config.Config, value string) error
}

// settings are the parts of the configuration that are worth a flag; everything
// else is in the file.
var settings = []setting{
	{"name", "TIERGRID_NAME", "`NAME` of this member (node.name)",
		func(c *config.Config, v string) error { c.Node.Name = v; return nil }},
	{"data", "TIERGRID_DATA", "`DIR` that keeps the data (node.data)",
		func(c *config.Config, v string) error { c.Node.Data = v; return nil }},
	{"resp-bind", "TIERGRID_RESP_BIND", "`HOST:PORT` for Redis clients (resp.bind)",
		func(c *config.Config, v string) error { c.RESP.Bind = v; return nil }},
	{"http-bind", "TIERGRID_HTTP_BIND", "`HOST:PORT` for API, health and metrics (http.bind)",
		func(c *config.Config, v string) error { c.HTTP.Bind = v; return nil }},
	{"memory-max-size", "TIERGRID_MEMORY_MAX_SIZE", "`SIZE` of the memory tier (memory.max-size)",
		func(c *config.Config, v string) error { return setSize(&c.Memory.MaxSize, v) }},
	{"ssd-max-size", "TIERGRID_SSD_MAX_SIZE", "`SIZE` of the SSD tier (ssd.max-size)",
		func(c *config.Config, v string) error { return setSize(&c.SSD.MaxSize, v) }},
	{"log-format", "TIERGRID_LOG_FORMAT", "`FORMAT` of the log, text or json (log.format)",
		func(c *config.Config, v string) error { c.Log.Format = v; return nil }},
	{"log-level", "TIERGRID_LOG_LEVEL", "`LEVEL` of the log, debug, info, warn or error (log.level)",
		func(c *config.Config, v string) error { c.Log.Level = v; return nil }},
}

func setSize(size *config.Size, text string) error {
	parsed, err := config.ParseSize(text)
	*size = parsed
	return err
}

// configFlags are the flags of every command that needs the configuration.
func configFlags() []cli.Flag {
	flags := []cli.Flag{&cli.StringFlag{
		Name: flagConfig, Aliases: []string{"c"}, EnvVars: []string{"TIERGRID_CONFIG"},
		Usage: "`FILE` with the configuration, in YAML",
	}}
	for _, s := range settings {
		flags = append(flags, &cli.StringFlag{Name: s.name, EnvVars: []string{s.env}, Usage: s.usage})
	}
	return flags
}

// loadConfig reads file, environment and flags, fills in defaults and checks.
func loadConfig(c *cli.Context) (*config.Config, error) {
	cfg, err := config.Read(c.String(flagConfig))
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if !c.IsSet(s.name) {
			continue
		}
		if err := s.set(&cfg, c.String(s.name)); err != nil {
			return nil, fmt.Errorf("--%s: %w", s.name, err)
		}
	}
	if err := cfg.SetDefaults(); err != nil {
		return nil, err
	}
	return &cfg, cfg.Validate()
}

// configCommand shows and checks the configuration.
func configCommand() *cli.Command {
	return &cli.Command{
		Name:         "config",
		Usage:        "show or check the configuration",
		OnUsageError: onUsage,
		Action:       noCommand,
		Subcommands: []*cli.Command{
			configSubcommand("show", "print the configuration with all defaults, as YAML", func(_ context.Context, cfg *config.Config) error {
				return yaml.NewEncoder(os.Stdout).Encode(cfg)
			}),
			configSubcommand("check", "check the configuration, print nothing when it is good", checkCaches),
		},
	}
}

func configSubcommand(name, usage string, do func(ctx context.Context, cfg *config.Config) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Flags: configFlags(), HideHelpCommand: true, OnUsageError: onUsage,
		Action: noArguments(func(c *cli.Context) error {
			cfg, err := loadConfig(c)
			if err != nil {
				return err
			}
			return do(c.Context, cfg)
		}),
	}
}
