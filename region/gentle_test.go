package region

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
)

// While questions are asked on few cores changes are taken gently, unless they
// have waited for long.
func TestChangesAreTakenGentlyWhileQuestionsAreAsked(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	if r.node.gently(2) {
		t.Error("nobody has asked anything")
	}
	v, err := r.node.View(context.Background(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if !r.node.gently(2) {
		t.Error("a question was just asked")
	}
	// All is applied all the same.
	r.wait(r.append(job("j", 1, "a", "b")))
	r.node.asked.Store(time.Now().UnixNano())
	if lag := r.node.lag(r.node.applied.Position + 1); lag <= 0 {
		t.Errorf("what waits has waited for %v", lag)
	}
	r.node.note(time.Now().Add(-2 * waitsLong))
	if r.node.lag(r.node.applied.Position+1) < waitsLong {
		t.Error("what has waited for a minute has not waited long")
	}
	if r.node.gently(fewCores + 1) {
		t.Error("there are cores for all")
	}
}
