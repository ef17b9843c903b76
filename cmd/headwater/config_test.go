package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headwater/region"
)

// readConfig reads a configuration as serve does, from a file's text and from
// flags; the environment is what it is.
func readConfig(t *testing.T, file string, args ...string) (config, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "headwater.yaml")
		if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--config", path}, args...)
	}
	var c config
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	c = defaultConfig()
	read := configure(f, &c)
	if err := f.Parse(args); err != nil {
		return c, err
	}
	return c, read()
}

func TestConfigurationWithoutAnythingIsTheDefault(t *testing.T) {
	c, err := readConfig(t, "")
	want := defaultConfig()
	if err != nil || c.Listen != want.Listen || c.Data != want.Data || c.Region != "local" || time.Duration(c.Retention) != 90*24*time.Hour ||
		c.MinFree != 1<<30 || c.Cache != 384<<20 || time.Duration(c.Timeout) != 10*time.Second || c.LogLevel != "info" || c.Token != "" {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestFlagsWinOverTheEnvironmentWhichWinsOverTheFile(t *testing.T) {
	const file = `
listen: 127.0.0.1:1
data: from-file
region: eu
retention: 30d
minFree: 5GiB
logLevel: debug
store: nebula://file/graph
init: true
flowMemory: 2GiB
`
	t.Setenv("HEADWATER_DATA", "from-env")
	t.Setenv("HEADWATER_REGION", "us")
	t.Setenv("HEADWATER_MIN_FREE", "7MiB")
	t.Setenv("HEADWATER_LOG_LEVEL", "") // counts as none
	t.Setenv("HEADWATER_STORE", "nebula://root:secret@environment/graph")
	c, err := readConfig(t, file, "--region", "ap", "--cache", "64MiB")
	if err != nil || c.Listen != "127.0.0.1:1" || c.Data != "from-env" || c.Region != "ap" || c.Retention.String() != "30d" || c.MinFree.String() != "7MiB" || c.Cache.String() != "64MiB" || c.LogLevel != "debug" {
		t.Errorf("%v, %+v", err, c)
	}
	if o, ok, err := c.nebulaOptions(); err != nil || !ok || o.Addresses[0] != "environment:9669" || o.Password != "secret" || o.Space != "graph" || o.Region != "ap" || !o.Init || c.FlowMemory != 2<<30 {
		t.Errorf("%v, %v, %+v, flows in %s", err, ok, o, c.FlowMemory.String())
	}
	if c, err = readConfig(t, file, "--init=false", "--store", ""); err != nil || c.Init || c.Store != "" {
		t.Errorf("%v, %+v", err, c)
	}
	// What a flag makes good was never wrong.
	t.Setenv("HEADWATER_RETENTION", "nonsense")
	if c, err = readConfig(t, file, "--retention", "1h"); err != nil || time.Duration(c.Retention) != time.Hour {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestMinFreeZeroMeansNoneAndNotTheDefault(t *testing.T) {
	c, err := readConfig(t, "minFree: 0\n")
	if err != nil || c.MinFree != -1 {
		t.Errorf("%v, min-free %d; want -1, which region.Options takes for none", err, c.MinFree)
	}
}

func TestRulesOfTheFileReachTheRegion(t *testing.T) {
	c, err := readConfig(t, `
aliases:
  - from: {namespace: "s3://bucket", name: orders}
    to: {namespace: "hive://m:9083", name: shop.orders}
naming:
  - {namespace: "trino://t:8080", prefix: hive., toNamespace: "hive://m:9083"}
`)
	if err != nil {
		t.Fatal(err)
	}
	r := c.rules()
	if len(r.Aliases) != 1 || r.Aliases[0] != (region.AliasRule{FromNamespace: "s3://bucket", FromName: "orders", ToNamespace: "hive://m:9083", ToName: "shop.orders"}) ||
		len(r.Naming) != 1 || r.Naming[0] != (region.NamingRule{Namespace: "trino://t:8080", Prefix: "hive.", ToNamespace: "hive://m:9083"}) {
		t.Errorf("%+v", r)
	}
}

func TestDurationsAndSizesReadWhatTheyWrite(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "-1d": -24 * time.Hour, "36h": 36 * time.Hour, "1m30s": 90 * time.Second, "0s": 0} {
		var d, again duration
		if err := d.Set(text); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %s, %v", text, d.String(), err)
		}
		if err := again.Set(d.String()); err != nil || again != d {
			t.Errorf("%s is written %s, which reads %s, %v", text, d.String(), again.String(), err)
		}
	}
	for text, want := range map[string]int64{"0": 0, "100000": 100_000, "1KiB": 1 << 10, "512MiB": 512 << 20, "1536MiB": 3 << 29, "1GiB": 1 << 30, "3TiB": 3 << 40} {
		var z, again size
		if err := z.Set(text); err != nil || int64(z) != want {
			t.Errorf("%s: %d, %v", text, z, err)
		}
		if err := again.Set(z.String()); err != nil || again != z {
			t.Errorf("%s is written %s, which reads %d, %v", text, z.String(), again, err)
		}
	}
	for _, text := range []string{"", "d", "9", "9x", "1.5d", "-2d", "99999d", "1 h", "0x1d", "+1d"} {
		if err := new(duration).Set(text); err == nil || !strings.Contains(err.Error(), "is not a") {
			t.Errorf("the duration %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "-1", "1GB", "1gib", "1.5GiB", "GiB", "1 GiB", "0x1", "01", "+1", "9999999999TiB", "99999999999999999999"} {
		if err := new(size).Set(text); err == nil || !strings.Contains(err.Error(), "is not a size") {
			t.Errorf("the size %q: %v", text, err)
		}
	}
}

func TestSettingsThatCannotBeFollowedAreNamed(t *testing.T) {
	for args, want := range map[string]string{
		"--data=": "data: ", "--region=": "region: ", "--listen=": "listen: ", "--cache=0": "cache: ", "--timeout=0s": "timeout: ", "--timeout=-5s": "timeout: ", "--retention=0d": "retention: ",
	} {
		if _, err := readConfig(t, "", args); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s…", args, err, want)
		}
	}
}

func TestFlagsMayStandAnywhereAndEndWithTwoDashes(t *testing.T) {
	for _, c := range []struct{ args, rest string }{
		{"a b", "a b"}, {"--up a b", "a b"}, {"a --up b", "a b"}, {"a b --up", "a b"}, {"--up -- a --down", "a --down"}, {"a -- --up", "a --up"}, {"a --up -- --down", "a --down"},
	} {
		f := flag.NewFlagSet("x", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		f.Bool("up", false, "")
		rest, err := parse(f, strings.Fields(c.args))
		if got := strings.Join(rest, " "); err != nil || got != c.rest {
			t.Errorf("%s: the arguments are %s, %v; want %s", c.args, got, err, c.rest)
		}
	}
}
