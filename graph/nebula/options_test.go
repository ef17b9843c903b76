package nebula

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseURLReadsWhereAGraphIs(t *testing.T) {
	for s, want := range map[string]Options{
		"nebula://root:nebula@10.0.0.1:9669,10.0.0.2:9670/graph_eu": {Addresses: []string{"10.0.0.1:9669", "10.0.0.2:9670"}, User: "root", Password: "nebula", Space: "graph_eu"},
		"nebula://host/s": {Addresses: []string{"host:9669"}, Space: "s"},
		"nebula://u%40x:p%3Aw%2Fd%40@[::1]:1,[fe80::2]/s2": {Addresses: []string{"[::1]:1", "[fe80::2]:9669"}, User: "u@x", Password: "p:w/d@", Space: "s2"},
		"nebula://u@h/s?replicas=3&partitions=100":         {Addresses: []string{"h:9669"}, User: "u", Space: "s", Partitions: 100, Replicas: 3},
	} {
		if got, err := ParseURL(s); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseURL(%s) = %+v, %v, want %+v", s, got, err, want)
		}
	}
}

func TestParseURLSaysWhatIsWrongAndNoPassword(t *testing.T) {
	for s, want := range map[string]string{
		"postgres://h/s":                   "begins with nebula://",
		"nebula://u:secret@/s":             "a host is empty",
		"nebula://u:secret@h1,,h2/s":       "a host is empty",
		"nebula://u:secret@h":              `space ""`,
		"nebula://u:secret@h/s; DROP":      "letters, digits and _",
		"nebula://u:secret@h/9s":           "a letter first",
		"nebula://u:secret%zz@h/s":         "percent-encoded",
		"nebula://:secret@h/s":             "percent-encoded",
		"nebula://u:secret@h/s?replicas=0": "replicas is a number from 1 on",
		"nebula://u:secret@h/s?x=1":        "x is not known",
		"nebula://u:p?secret@h/s":          "percent-encoded",
		"nebula://u:secret@h/s?replicas=x": "replicas is a number",
	} {
		_, err := ParseURL(s)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseURL(%s): %v, want an error with %q and without the password", s, err, want)
		}
	}
}

func TestValidateSaysWhatIsMissing(t *testing.T) {
	good := Options{Addresses: []string{"h:9669"}, Space: "s", Region: "eu"}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Options){
		"no address":                func(o *Options) { o.Addresses = nil },
		`address "h" is not`:        func(o *Options) { o.Addresses = []string{"h"} },
		`address "h:" is not`:       func(o *Options) { o.Addresses = []string{"h:"} },
		`space "a b"`:               func(o *Options) { o.Space = "a b" },
		"Options.Region is empty":   func(o *Options) { o.Region = "" },
		"are not less than 0":       func(o *Options) { o.Sessions = -1 },
		"replicas are not less tha": func(o *Options) { o.Replicas = -1 },
	} {
		o := good
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
