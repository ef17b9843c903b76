package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"strings"
	"testing"
)

// runHere runs a command line in this process.
func runHere(args ...string) (code int, out, log string) {
	var o, l bytes.Buffer
	code = run(context.Background(), args, &o, &l)
	return code, o.String(), l.String()
}

func TestHelpIsTheSameHoweverItIsAskedFor(t *testing.T) {
	_, want, _ := runHere()
	for _, args := range [][]string{{"-h"}, {"-help"}, {"--help"}, {"help"}} {
		if code, out, log := runHere(args...); code != 0 || out != want || log != "" {
			t.Errorf("headwater %s: exit code %d, on standard error %q\n%s", args, code, log, out)
		}
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range commands(io.Discard, io.Discard) {
		code, out, log := runHere(c.name, "-h")
		if code != 0 || log != "" {
			t.Errorf("headwater %s -h: exit code %d, on standard error %q", c.name, code, log)
		}
		if !strings.HasPrefix(out, "Usage: headwater "+c.name) || !strings.Contains(out, c.short[1:]) {
			t.Errorf("headwater %s -h:\n%s", c.name, out)
		}
		for _, args := range [][]string{{"help", c.name}, {c.name, "--help"}, {c.name, "a", "b", "-h"}} {
			if code, again, log := runHere(args...); code != 0 || again != out || log != "" {
				t.Errorf("headwater %s: exit code %d, on standard error %q\n%s", args, code, log, again)
			}
		}
		// Each flag says what it is for.
		f := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(f)
		f.VisitAll(func(x *flag.Flag) {
			if x.Usage == "" || !strings.Contains(out, "  -"+x.Name) {
				t.Errorf("headwater %s -h does not explain -%s", c.name, x.Name)
			}
		})
	}
}

func TestWrongUseEndsWithTwoAndIsExplained(t *testing.T) {
	for line, want := range map[string]string{
		"nonsense":                          `"nonsense" is not a command`,
		"help nonsense":                     `"nonsense" is not a command`,
		"--version":                         `"--version" is not a command`,
		"serve --nonsense":                  "flag provided but not defined: -nonsense",
		"serve argument":                    "Usage: headwater serve",
		"serve --retention 90x":             `invalid value "90x" for flag -retention: "90x" is not a duration`,
		"serve --cache -1":                  `invalid value "-1" for flag -cache: "-1" is not a size`,
		"load":                              "Usage: headwater load",
		"load --faults many e.json":         `invalid value "many" for flag -faults`,
		"load --patience long e.json":       `invalid value "long" for flag -patience`,
		"lineage":                           "Usage: headwater lineage",
		"lineage only-a-namespace":          "Usage: headwater lineage",
		"lineage a b c":                     "Usage: headwater lineage",
		"lineage --up --down a b":           "Usage: headwater lineage",
		"lineage a b --columns --processes": "Usage: headwater lineage",
		"delete a":                          "Usage: headwater delete",
		"dead":                              "Usage: headwater dead",
		"dead show":                         "Usage: headwater dead",
		"dead list 1.0":                     "Usage: headwater dead",
		"dead bury 1.0":                     "Usage: headwater dead",
		"dead list --limit 0":               "Usage: headwater dead",
		"generate --tasks 0":                "Usage: headwater generate",
		"generate --runs 0":                 "Usage: headwater generate",
		"generate --changing 1001":          "Usage: headwater generate",
		"generate --seed -1":                `invalid value "-1" for flag -seed`,
	} {
		if code, out, log := runHere(strings.Fields(line)...); code != 2 || out != "" || !strings.Contains(log, want) {
			t.Errorf("headwater %s: exit code %d, on standard output %q, want %q on standard error, which has\n%s", line, code, out, want, log)
		}
	}
}
