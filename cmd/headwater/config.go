package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"headwater/gateway"
	"headwater/ingest/derive"
	"headwater/region"
)

// A config is all that can be configured of a server: from a YAML file, then
// the environment (HEADWATER_LISTEN …), then flags; the later wins.
type config struct {
	Listen    string    `yaml:"listen"`
	Data      string    `yaml:"data"`
	Region    string    `yaml:"region"`
	Store     string    `yaml:"store"`
	Init      truth     `yaml:"init"`
	Token     string    `yaml:"token"`
	Cluster   string    `yaml:"clusterToken"`
	Kafka     string    `yaml:"kafka"`
	Topic     string    `yaml:"kafkaTopic"`
	TLS       tlsConfig `yaml:"tls"`
	Retention duration  `yaml:"retention"`
	MinFree   size      `yaml:"minFree"`
	Cache     size      `yaml:"cache"`
	// FlowMemory 0 is that of the store: all that it takes, or with NebulaGraph
	// 4 GiB.
	FlowMemory size     `yaml:"flowMemory"`
	Answers    size     `yaml:"answers"`
	Timeout    duration `yaml:"timeout"`
	LogLevel   string   `yaml:"logLevel"`
	Aliases    []struct {
		From name `yaml:"from"`
		To   name `yaml:"to"`
	} `yaml:"aliases"`
	Naming []struct {
		Namespace   string `yaml:"namespace"`
		Prefix      string `yaml:"prefix"`
		ToNamespace string `yaml:"toNamespace"`
		ToPrefix    string `yaml:"toPrefix"`
	} `yaml:"naming"`
	SQL []struct {
		Jobs     string `yaml:"jobs"`
		Dialect  string `yaml:"dialect"`
		Catalog  string `yaml:"catalog"`
		Database string `yaml:"database"`
		Tables   []struct {
			Catalog   string `yaml:"catalog"`
			Namespace string `yaml:"namespace"`
			Name      string `yaml:"name"`
		} `yaml:"tables"`
	} `yaml:"sql"`

	// asRegion: gateways are answered.
	asRegion bool
}

type name struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
}

func defaultConfig() config {
	return config{
		Listen: "127.0.0.1:8080", Data: "headwater-data", Region: "local", Retention: duration(90 * 24 * time.Hour),
		MinFree: 1 << 30, Cache: 384 << 20, Answers: 64 << 20, Timeout: duration(10 * time.Second), LogLevel: "info",
		Topic: gateway.DefaultTopic,
	}
}

// A duration is a time.Duration that also reads days: 90d.
type duration time.Duration

func (d *duration) Set(s string) error {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err != nil || fmt.Sprint(n) != days || n > 100*365 || n < -1 {
			return fmt.Errorf("%q is not a number of days", s)
		}
		*d = duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a duration like 30s, 12h or 90d", s)
	}
	*d = duration(v)
	return nil
}

func (d *duration) String() string {
	if v := time.Duration(*d); v%(24*time.Hour) != 0 || v == 0 {
		return v.String()
	}
	return fmt.Sprintf("%dd", time.Duration(*d)/(24*time.Hour))
}

func (d *duration) UnmarshalYAML(n *yaml.Node) error { return onLine(n, d.Set(n.Value)) }

// onLine says on which line of its file a setting is wrong.
func onLine(n *yaml.Node, err error) error {
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// A size is a number of bytes: 512MiB, 1GiB, 100000.
type size int64

var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"", 1}}

func (z *size) Set(s string) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		var n int64
		if _, err := fmt.Sscanf(number, "%d", &n); err != nil || fmt.Sprint(n) != number || n < 0 || n > (1<<62)/u.bytes {
			return fmt.Errorf("%q is not a size like 512MiB or 1GiB", s)
		}
		*z = size(n * u.bytes)
		return nil
	}
	return nil
}

func (z *size) String() string {
	for _, u := range []int{3, 2, 1, 0} {
		if b := units[u].bytes; *z != 0 && int64(*z)%b == 0 {
			return fmt.Sprint(int64(*z)/b) + units[u].name
		}
	}
	return fmt.Sprint(int64(*z))
}

func (z *size) UnmarshalYAML(n *yaml.Node) error { return onLine(n, z.Set(n.Value)) }

// A configuration is what can be configured of one command.
type configuration interface {
	settings() []setting
	// check says which setting can't be followed.
	check() error
}

// configure adds the flags of a configuration, whose values are the defaults,
// and returns a function that reads it once they have been parsed.
func configure(f *flag.FlagSet, c configuration) func() error {
	file := f.String("config", os.Getenv("HEADWATER_CONFIG"), "read a YAML `file` of settings; flags and HEADWATER_… variables win over it")
	set := c.settings()
	values := map[string]string{}
	for _, s := range set {
		help := s.help
		if def := s.value.String(); def != "" {
			help += fmt.Sprintf(" (default %q)", def)
		}
		take := func(v string) error {
			values[s.flag] = v
			return s.value.Set(v)
		}
		if _, ok := s.value.(*truth); ok {
			f.BoolFunc(s.flag, help, take)
		} else {
			f.Func(s.flag, help, take)
		}
	}
	return func() error {
		if *file != "" {
			if err := readSettings(*file, c); err != nil {
				return err
			}
		}
		for _, s := range set {
			env := "HEADWATER_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
			v := os.Getenv(env)
			ok := v != "" // an empty variable counts as none
			if flagged, byFlag := values[s.flag]; byFlag {
				v, ok, env = flagged, true, "-"+s.flag
			}
			if ok {
				if err := s.value.Set(v); err != nil {
					return fmt.Errorf("%s: %w", env, err)
				}
			}
		}
		return c.check()
	}
}

// check says which setting can't be followed. What is 0 here must not be taken
// for "the default" further down.
func (c *config) check() error {
	switch {
	case c.Listen == "":
		return errors.New("listen: it is empty; it is an address like 127.0.0.1:8080")
	case c.Data == "":
		return errors.New("data: it is empty; it is a folder")
	case c.Region == "":
		return errors.New("region: it is empty; it is the region's name")
	case c.Retention == 0:
		return errors.New("retention: it is 0; closed versions are kept for longer, or forever with -1d")
	case c.Cache == 0:
		return errors.New("cache: it is 0; the store needs some memory")
	case c.Timeout <= 0:
		return fmt.Errorf("timeout: it is %s; a query needs some time", c.Timeout.String())
	case bool(c.Init) && c.Store == "":
		return errors.New("init: it makes the space of a store; there is none")
	case c.MinFree == 0:
		c.MinFree = -1
	}
	rules := c.rules()
	_, _, err := c.nebulaOptions()
	return cmp.Or(err, c.TLS.check(), rules.Check(), c.tableNames().Check())
}

type setting struct {
	flag, help string
	value      flag.Value
}

func (c *config) settings() []setting {
	set := []setting{
		{"listen", "`address` to listen on", (*text)(&c.Listen)},
		{"data", "`folder` for the data; it is made where it is not there", (*text)(&c.Data)},
		{"region", "`name` of the region", (*text)(&c.Region)},
		{"store", "`URL` of the NebulaGraph that keeps the large part of the graph, nebula://user:password@host:9669,host2:9669/space; without it all is in the data folder", (*text)(&c.Store)},
		{"init", "make the space of the store, and what is new in its schema, where they are not there", &c.Init},
		{"token", "`token` that intake wants as Authorization: Bearer; none is wanted where it is empty", (*text)(&c.Token)},
		{"retention", "how long closed versions are kept, as a `duration` like 90d; -1d is forever", &c.Retention},
		{"min-free", "free disk space below which nothing is taken in, as a `size` like 1GiB", &c.MinFree},
		{"answers", "memory for answers that are given again as long as they hold, as a `size`; 0 keeps none", &c.Answers},
		{"cache", "memory for what the store keeps at hand, as a `size`; the flows themselves are in memory besides, some 80 bytes each", &c.Cache},
		{"flow-memory", "memory that flows may take, as a `size`: where all of them take more they are read from the store; 0 is no bound, and 4GiB with NebulaGraph", &c.FlowMemory},
		{"timeout", "the longest that a query may take, as a `duration`", &c.Timeout},
		{"log-level", "what is logged: debug, info, warn or error (`level`)", (*text)(&c.LogLevel)},
	}
	set = append(set, c.TLS.settings()...)
	if c.asRegion {
		set = append(set, kafkaSettings(&c.Kafka, &c.Topic)...)
		set = append(set, setting{"cluster-token", "`token` that regions and gateways show each other; none is wanted where it is empty", (*text)(&c.Cluster)})
	}
	return set
}

// kafkaSettings say where streams of changes go, or come from.
func kafkaSettings(brokers, topic *string) []setting {
	return []setting{
		{"kafka", "`brokers` (host:port, with commas between) that carry the stream of changes; without any the region serves it itself", (*text)(brokers)},
		{"kafka-topic", "what the `topics` begin with: there is one of each region, TOPIC.REGION, of one partition", (*text)(topic)},
	}
}

// A truth is set or not.
type truth bool

func (t *truth) Set(s string) error {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("%q is not true or false", s)
	}
	*t = truth(v)
	return nil
}

func (t *truth) String() string {
	if *t {
		return "true"
	}
	return ""
}

type text string

func (t *text) Set(s string) error { *t = text(s); return nil }
func (t *text) String() string     { return string(*t) }

// readSettings reads a YAML file of settings.
func readSettings(file string, c configuration) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", file, inSettings(err))
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: a second document follows; one is read", file)
	}
	return nil
}

var unknownField = regexp.MustCompile(`field (\S+) not found in type .*`)

// inSettings says what is wrong with a file in words of settings, not of Go.
func inSettings(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var all []string
	for _, e := range wrong.Errors {
		all = append(all, unknownField.ReplaceAllString(e, "$1 is not a setting"))
	}
	return errors.New(strings.Join(all, "; "))
}

// tableNames says how tables of SQL are called.
func (c *config) tableNames() derive.Naming {
	var n derive.Naming
	for _, r := range c.SQL {
		rule := derive.Rule{Jobs: r.Jobs, Dialect: r.Dialect, Catalog: r.Catalog, Database: r.Database}
		for _, t := range r.Tables {
			rule.Tables = append(rule.Tables, derive.TableRule(t))
		}
		n = append(n, rule)
	}
	return n
}

func (c *config) rules() region.Rules {
	var r region.Rules
	for _, a := range c.Aliases {
		r.Aliases = append(r.Aliases, region.AliasRule{FromNamespace: a.From.Namespace, FromName: a.From.Name, ToNamespace: a.To.Namespace, ToName: a.To.Name})
	}
	for _, n := range c.Naming {
		r.Naming = append(r.Naming, region.NamingRule(n))
	}
	return r
}
