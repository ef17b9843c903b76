package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"headwater/ingest/source"
)

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

const defaultServer = "http://127.0.0.1:8080"

func serverFlag(f *flag.FlagSet) *string {
	return f.String("server", env("HEADWATER_SERVER", defaultServer), "`URL` of the server")
}

func loadCommand(out, log io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		connect := clientFlags(f)
		wait := f.Bool("wait", true, "wait at the end until all can be read")
		quiet := f.Bool("quiet", false, "print no progress")
		most := f.Int("faults", 20, "print at most so many `faults`")
		patience := f.Duration("patience", time.Minute, "how `long` a server that is down or overloaded is waited for; 0 is not at all")
		return func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return errUsage
			}
			files, err := source.Files(args)
			if err != nil {
				return err
			}
			c := connect()
			o := source.LoadOptions{Server: c.server, Token: c.token, Wait: *wait, Patience: *patience}
			if o.Patience == 0 {
				o.Patience = -1
			}
			terminal := isTerminal(log) && !*quiet
			wipe := func() {
				if terminal {
					fmt.Fprint(log, "\r\x1b[K")
				}
			}
			// Said at first, so that nobody sits before a silent terminal.
			waiting := ""
			o.Waiting = func(why error, left time.Duration) {
				if waiting != why.Error() {
					waiting = why.Error()
					wipe()
					fmt.Fprintf(log, "waiting up to %s: %s\n", left.Round(time.Second), waiting)
				}
			}
			var shown time.Time
			if terminal {
				o.Progress = func(p source.Progress) {
					if now := time.Now(); now.Sub(shown) > 100*time.Millisecond {
						shown = now
						fmt.Fprintf(log, "\r\x1b[K%3d%%  %d events  %s", percent(p.BytesRead, p.BytesTotal), p.Sent, p.File)
					}
				}
			}
			faults := 0
			o.Fault = func(f source.Fault) {
				if faults++; faults > *most {
					return
				}
				wipe()
				what := "not taken: "
				if f.Taken {
					what = "taken but for a part: "
				}
				fmt.Fprintln(log, what+f.String())
			}
			p, err := source.Load(ctx, files, o)
			wipe()
			if faults > *most {
				fmt.Fprintf(log, "… and %d more faults\n", faults-*most)
			}
			fmt.Fprintf(out, "%d events taken, %d not taken, %d files", p.Sent, p.Failed, len(files))
			if p.Warned > 0 {
				fmt.Fprintf(out, ", %d parts left out", p.Warned)
			}
			if p.Receipt != "" {
				fmt.Fprintf(out, ", receipt %s", p.Receipt)
			}
			fmt.Fprintln(out)
			switch {
			case err != nil:
				return err
			case p.Failed > 0:
				return fmt.Errorf("%d events were not taken", p.Failed)
			}
			return nil
		}
	}
}

func percent(n, of int64) int64 {
	if of == 0 {
		return 100
	}
	return min(100, n*100/of)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
