// Package config is the configuration of a tiergrid process: one documented
// struct, read from a YAML file, flags and the environment, in this order of
// growing weight, and checked before anything is opened.
//
// Load reads and checks; nothing here opens a port or a store. Unknown keys are
// errors that name the nearest known one.
package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Config is everything that can be configured. The zero value of a field means
// its default, which SetDefaults fills in.
type Config struct {
	Node      Node                `yaml:"node"`
	RESP      RESP                `yaml:"resp"`
	HTTP      HTTP                `yaml:"http"`
	Memory    Memory              `yaml:"memory"`
	SSD       SSD                 `yaml:"ssd"`
	Log       Log                 `yaml:"log"`
	Templates map[string]Template `yaml:"templates,omitempty"`
	Caches    map[string]Cache    `yaml:"caches,omitempty"`
}

// Node says who the process is and where it keeps its data.
type Node struct {
	// Name is the member's name, the same at every start. Default: the host name.
	Name string `yaml:"name"`
	// Zone is where the member stands, for placement. Default: none.
	Zone string `yaml:"zone"`
	// Data is the data directory. Default: "data" in the working directory.
	Data string `yaml:"data"`
}

// RESP says where and how Redis clients are served.
type RESP struct {
	// Bind is the address of the RESP port. Default: 127.0.0.1:6379.
	Bind string `yaml:"bind"`
	// MaxClients bounds the connections. Default: 50000.
	MaxClients int `yaml:"max-clients"`
	// IdleTimeout closes connections that send nothing for so long. Default: 0,
	// never.
	IdleTimeout time.Duration `yaml:"idle-timeout"`
	// WriteTimeout closes connections that take nothing for so long while
	// replies wait. Default: 60s.
	WriteTimeout time.Duration `yaml:"write-timeout"`
	// SlowlogSlowerThan is from which run time on a command is in the slow log;
	// negative turns it off. Default: 10ms.
	SlowlogSlowerThan time.Duration `yaml:"slowlog-slower-than"`
}

// HTTP says where the API, health and metrics are served, beside RESP.
type HTTP struct {
	// Bind is the address of the HTTP port. Default: 127.0.0.1:11222.
	Bind string `yaml:"bind"`
}

// Memory is the memory tier.
type Memory struct {
	// MaxSize bounds the tier, ring and index. Default: a quarter of the memory
	// of the machine or the control group.
	MaxSize Size `yaml:"max-size"`
	// WhenFull is "remove": entries are dropped from memory, they are on SSD.
	WhenFull string `yaml:"when-full"`
}

// SSD is the SSD tier.
type SSD struct {
	// MaxSize bounds what the tier takes on disk. Default: 80 % of the file
	// system that holds the data.
	MaxSize Size `yaml:"max-size"`
	// WhenFull is "refuse": writes are answered with an OOM error until there
	// is space again.
	WhenFull string `yaml:"when-full"`
}

// Log says how the process logs.
type Log struct {
	// Format is "text" or "json". Default: text.
	Format string `yaml:"format"`
	// Level is "debug", "info", "warn" or "error". Default: info.
	Level string `yaml:"level"`
}

// Template is a policy that caches are made from; fields left out are those of
// the built-in default.
type Template struct {
	Mode         *string        `yaml:"mode,omitempty"`
	Owners       *int           `yaml:"owners,omitempty"`
	Replication  *string        `yaml:"replication,omitempty"`
	Reads        *string        `yaml:"reads,omitempty"`
	Durability   *string        `yaml:"durability,omitempty"`
	SyncInterval *time.Duration `yaml:"sync-interval,omitempty"`
	MinISR       *int           `yaml:"min-isr,omitempty"`
	WhenFull     *string        `yaml:"when-full,omitempty"`
	MaxEntrySize *Size          `yaml:"max-entry-size,omitempty"`
	TTL          *time.Duration `yaml:"ttl,omitempty"`
}

// Cache is a cache that exists from the start.
type Cache struct {
	Template string `yaml:"template,omitempty"`
	// Database is the number by which SELECT reaches the cache.
	Database *int `yaml:"database,omitempty"`

	Policy Template `yaml:",inline"`
}

// Default values.
const (
	defaultData         = "data"
	defaultRESP         = "127.0.0.1:6379"
	defaultHTTP         = "127.0.0.1:11222"
	defaultMaxClients   = 50_000
	defaultWriteTimeout = time.Minute
	defaultSlowlog      = 10 * time.Millisecond

	whenFullRemove = "remove"
	whenFullRefuse = "refuse"

	minMemory = 512 << 10
	minSSD    = 64 << 20
)

// Read returns what a file says, without defaults. No path is an empty file.
func Read(path string) (Config, error) {
	var c Config
	if path == "" {
		return c, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("configuration %s: %w", path, explain(err))
	}
	return c, nil
}

// SetDefaults fills in what was left out.
func (c *Config) SetDefaults() error {
	if c.Node.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("node.name is not set and the host has no name: %w", err)
		}
		c.Node.Name = name
	}
	setDefault(&c.Node.Data, defaultData)
	setDefault(&c.RESP.Bind, defaultRESP)
	setDefault(&c.RESP.MaxClients, defaultMaxClients)
	setDefault(&c.RESP.WriteTimeout, defaultWriteTimeout)
	setDefault(&c.RESP.SlowlogSlowerThan, defaultSlowlog)
	setDefault(&c.HTTP.Bind, defaultHTTP)
	setDefault(&c.Memory.WhenFull, whenFullRemove)
	setDefault(&c.SSD.WhenFull, whenFullRefuse)
	setDefault(&c.Log.Format, "text")
	setDefault(&c.Log.Level, "info")
	return c.setSizes()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// setSizes takes the sizes that follow from the machine.
func (c *Config) setSizes() error {
	if c.Memory.MaxSize == 0 {
		memory, err := machineMemory()
		if err != nil {
			return fmt.Errorf("memory.max-size is not set and the machine's memory cannot be told: %w", err)
		}
		c.Memory.MaxSize = Size(memory / 4)
	}
	if c.SSD.MaxSize == 0 {
		disk, err := diskSize(c.Node.Data)
		if err != nil {
			return fmt.Errorf("ssd.max-size is not set and the size of the file system cannot be told: %w", err)
		}
		c.SSD.MaxSize = Size(disk / 10 * 8)
	}
	return nil
}

// Validate returns all that is wrong with a configuration with its defaults set.
func (c *Config) Validate() error {
	return errors.Join(
		checkName("node.name", c.Node.Name),
		checkAddress("resp.bind", c.RESP.Bind),
		checkAddress("http.bind", c.HTTP.Bind),
		check(c.RESP.MaxClients > 0, "resp.max-clients: %d is not positive", c.RESP.MaxClients),
		check(c.RESP.IdleTimeout >= 0, "resp.idle-timeout: %v is negative", c.RESP.IdleTimeout),
		check(c.RESP.WriteTimeout > 0, "resp.write-timeout: %v is not positive", c.RESP.WriteTimeout),
		check(c.Memory.MaxSize >= minMemory, "memory.max-size: %v is too small, the least is %v", c.Memory.MaxSize, Size(minMemory)),
		check(c.Memory.WhenFull == whenFullRemove, "memory.when-full: %q is unknown, use %s", c.Memory.WhenFull, whenFullRemove),
		check(c.SSD.MaxSize >= minSSD, "ssd.max-size: %v is too small, the least is %v", c.SSD.MaxSize, Size(minSSD)),
		check(c.SSD.WhenFull == whenFullRefuse, "ssd.when-full: %q is unknown, use %s", c.SSD.WhenFull, whenFullRefuse),
		check(c.Log.Format == "text" || c.Log.Format == "json", "log.format: %q is unknown, use text or json", c.Log.Format),
		check(logLevels[c.Log.Level], "log.level: %q is unknown, use debug, info, warn or error", c.Log.Level),
	)
}

// CheckMachine returns what of the configuration this machine cannot do: a
// configuration may be checked on another one than it is for.
func (c *Config) CheckMachine() error {
	machine, err := machineMemory()
	if err != nil {
		return nil // it cannot be told
	}
	return check(int64(c.Memory.MaxSize) <= machine, "memory.max-size: %v is more than the %v of the machine", c.Memory.MaxSize, Size(machine))
}

var logLevels = map[string]bool{"debug": true, "info": true, "warn": true, "error": true}

func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func checkName(key, name string) error {
	ok := name != "" && len(name) <= 63 && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == '/' || r == 0x7f
	})
	return check(ok, "%s: %q is no usable name: 1 to 63 characters, no spaces and no slashes", key, name)
}

func checkAddress(key, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return check(err == nil, "%s: %q is no address of the form host:port", key, address)
}
