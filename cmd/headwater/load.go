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
		server := serverFlag(f)
		token := f.String("token", os.Getenv("HEADWATER_TOKEN"), "`token` that the server wants")
		wait := f.Bool("wait", true, "wait at the end until all can be read")
		quiet := f.Bool("quiet", false, "print no progress")
		most := f.Int("faults", 20, "print at most so many `faults`")
		return func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return errUsage
			}
			files, err := source.Files(args)
			if err != nil {
				return err
			}
			o := source.LoadOptions{Server: *server, Token: *token, Wait: *wait}
			terminal := isTerminal(log) && !*quiet
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
				if terminal {
					fmt.Fprint(log, "\r\x1b[K")
				}
				what := "not taken: "
				if f.Taken {
					what = "taken but for a part: "
				}
				fmt.Fprintln(log, what+f.String())
			}
			p, err := source.Load(ctx, files, o)
			if terminal {
				fmt.Fprint(log, "\r\x1b[K")
			}
			if faults > *most {
				fmt.Fprintf(log, "… and %d more faults\n", faults-*most)
			}
			fmt.Fprintf(out, "%d events taken, %d not taken, %d files", p.Sent, p.Failed, len(files))
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
