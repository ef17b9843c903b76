package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"headwater/graph/graphtest"
)

func generateCommand(out, log io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		tasks := f.Int("tasks", 1000, "how many `tasks` the platform has")
		runs := f.Int("runs", 1, "how many `runs` each task reports")
		changing := f.Int("changing", 0, "how many of 1,000 tasks change from run to run")
		narrow := f.Bool("narrow", false, "make events as small as public ones: half have less than 1.3 KB")
		seed := f.Uint64("seed", 1, "the same `seed` gives the same platform")
		file := f.String("out", "-", "`file` to write, one event a line; - is standard output")
		return func(ctx context.Context, args []string) (err error) {
			if len(args) > 0 || *tasks < 1 || *runs < 1 || *changing < 0 || *changing > 1000 {
				return errUsage
			}
			w := out
			if *file != "-" {
				f, cerr := os.Create(*file)
				if cerr != nil {
					return cerr
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				w = f
			}
			b := bufio.NewWriterSize(w, 1<<20)
			p := graphtest.Platform{Tasks: *tasks, Seed: *seed, Changing: *changing, Narrow: *narrow}
			terminal := isTerminal(log) && *file != "-"
			shown := time.Now()
			var line []byte
			for run := range *runs {
				for i := range *tasks {
					line = append(graphtest.AppendEvent(line[:0], p.Task(i, run)), '\n')
					if _, err := b.Write(line); err != nil {
						return err
					}
					if now := time.Now(); terminal && now.Sub(shown) > 200*time.Millisecond {
						shown = now
						fmt.Fprintf(log, "\r\x1b[K%3d%%", percent(int64(run**tasks+i), int64(*runs**tasks)))
					}
					if err := ctx.Err(); err != nil {
						return err
					}
				}
			}
			if terminal {
				fmt.Fprint(log, "\r\x1b[K")
			}
			return b.Flush()
		}
	}
}
