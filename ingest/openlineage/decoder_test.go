package openlineage

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"headwater/graph"
	"headwater/ingest"
)

func TestADecoderThatIsUsedAgainDecodesAsANewOne(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	var bodies [][]byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b, b[:len(b)/2]) // what is cut off too
	}
	decode := NewDecoder()
	for range 3 {
		for i, b := range bodies {
			m := ingest.Message{Body: append([]byte(nil), b...), Region: "eu", Received: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			got := decode(m)
			clear(m.Body) // what was decoded must not be part of it
			m.Body = b
			if diff := cmp.Diff(Decode(m), got, cmpopts.IgnoreUnexported(graph.Delta{})); diff != "" {
				t.Fatalf("body %d: the decoder that was used before gives (+)\n%s", i, diff)
			}
		}
	}
}
