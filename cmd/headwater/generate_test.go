package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/ingest"
	"headwater/ingest/openlineage"
)

func TestGeneratedEventsSayWhatThePlatformSays(t *testing.T) {
	for seed := range uint64(2) {
		p := graphtest.Platform{Tasks: 100, Seed: seed, Region: "eu", Changing: 300, Narrow: seed == 1}
		for run := range 3 {
			for i := range p.Tasks {
				body := graphtest.AppendEvent(nil, p.Task(i, run))
				d := openlineage.Decode(ingest.Message{Body: body, Region: "eu", Received: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)})
				if len(d.Rejected) > 0 || len(d.Deltas) != 1 {
					t.Fatalf("seed %d, task %d, run %d: %d deltas, rejected %v\n%s", seed, i, run, len(d.Deltas), d.Rejected, body)
				}
				got, want := d.Deltas[0], p.Delta(i, run)
				got.Seen = nil // what a platform does not say
				if diff := cmp.Diff(string(graph.AppendDelta(nil, &want)), string(graph.AppendDelta(nil, &got))); diff != "" {
					t.Fatalf("seed %d, task %d, run %d: the event says (+) other than the platform (-)\n%s\n%s", seed, i, run, cmp.Diff(want, got, cmpopts.IgnoreUnexported(graph.Delta{})), body)
				}
			}
		}
	}
}

func TestGenerateWritesTheSameEventsForTheSameSeed(t *testing.T) {
	generate := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(context.Background(), append([]string{"generate", "--tasks", "20", "--runs", "2"}, args...), &out, io.Discard); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		return out.String()
	}
	first := generate()
	if again := generate("--seed", "1"); again != first {
		t.Error("seed 1 gives another platform at the second time")
	}
	if other := generate("--seed", "2"); other == first {
		t.Error("seed 2 gives the platform of seed 1")
	}
	if n := bytes.Count([]byte(first), []byte("\n")); n != 40 {
		t.Errorf("%d lines of 20 tasks with 2 runs", n)
	}
}
