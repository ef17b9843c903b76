// Command headwater keeps the lineage of a data platform and answers where
// data comes from and what it feeds. Run it without arguments for help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"headwater/background"
)

// A command is one subcommand: its flags are set up by the first call, which
// returns what runs when they have been parsed.
type command struct {
	name, args, short string
	setup             func(flags *flag.FlagSet) func(ctx context.Context, args []string) error
}

// commands lists the subcommands in the order of the help.
func commands(out, log io.Writer) []command {
	return []command{
		{"demo", "", "a whole platform with sample data, to look around in", demoCommand(out, log)},
		{"serve", "", "one region in one process: intake, graph, GraphQL", serveCommand(log, false)},
		{"region", "", "one of many regions: what serve is, and it answers gateways", serveCommand(log, true)},
		{"gateway", "", "one of the gateways that answer over all regions", gatewayCommand(log)},
		{"load", "FILE|FOLDER ...", "send OpenLineage events from files to a server", loadCommand(out, log)},
		{"lineage", "NAMESPACE NAME[#COLUMN]", "ask a server where data comes from and what it feeds", lineageCommand(out)},
		{"sql", "FILE|- | score FILE | chain NAMESPACE NAME#COLUMN", "the lineage of a SQL script, without a server", sqlCommand(os.Stdin, out)},
		{"delete", "NAMESPACE NAME", "end what is said of a data store or a process", deleteCommand(out)},
		{"dead", "list|show|replay|drop [ID]", "look after events that could not be applied", deadCommand(out)},
		{"admin", "SUBJECT list|set|remove [ARGUMENT ...]", "look at and change what people decide and gateways agree on", adminCommand(os.Stdin, out)},
		{"generate", "", "write the events of a synthetic platform, for capacity tests", generateCommand(out, log)},
		{"bench", "[FIGURE ...]", "measure what this machine gives, each figure with what it is compared with", benchCommand(out, log)},
		{"version", "", "print the version", versionCommand(out)},
	}
}

// errUsage says that the command line is wrong; it has been explained.
var errUsage = errors.New("usage")

func main() {
	background.Room()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs a command line and returns the exit code: 0 done, 1 failed, 2 used
// wrongly, 3 for a question about what is not known.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	list := commands(out, log)
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" || args[0] == "-help" || args[0] == "help" {
		if len(args) > 1 {
			args = []string{args[1], "-h"}
		} else {
			help(out, list)
			return 0
		}
	}
	for _, c := range list {
		if c.name != args[0] {
			continue
		}
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		flags.SetOutput(log)
		flags.Usage = func() {
			fmt.Fprintf(flags.Output(), "Usage: headwater %s [flags] %s\n\n%s.\n\nFlags:\n", c.name, c.args, capital(c.short))
			flags.PrintDefaults()
		}
		do := c.setup(flags)
		for _, a := range args[1:] {
			if a == "-h" || a == "--help" || a == "-help" {
				flags.SetOutput(out)
			}
		}
		rest, err := parse(flags, args[1:])
		switch {
		case errors.Is(err, flag.ErrHelp):
			return 0
		case err != nil:
			return 2
		}
		switch err := do(ctx, rest); {
		case err == nil:
			return 0
		case errors.Is(err, errUsage):
			flags.Usage()
			return 2
		case errors.Is(err, errNotFound):
			fmt.Fprintf(log, "headwater %s: %v\n", c.name, err)
			return 3
		default:
			fmt.Fprintf(log, "headwater %s: %v\n", c.name, err)
			return 1
		}
	}
	fmt.Fprintf(log, "headwater: %q is not a command\n\n", args[0])
	help(log, list)
	return 2
}

// parse parses flags wherever they stand between the arguments.
func parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

func help(w io.Writer, list []command) {
	fmt.Fprint(w, `headwater keeps the lineage graph of a data platform, and answers where data
comes from and what it feeds, by table, column and process, over GraphQL.

Usage: headwater COMMAND [flags] [arguments]

`)
	for _, c := range list {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\nheadwater COMMAND -h explains a command.\n")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func versionCommand(out io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(*flag.FlagSet) func(context.Context, []string) error {
		return func(context.Context, []string) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			_, err := fmt.Fprintln(out, "headwater", version)
			return err
		}
	}
}
