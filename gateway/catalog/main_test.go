package catalog

import (
	"bytes"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// image returns the bytes of a state's snapshot.
func image(t interface {
	Helper()
	Fatal(...any)
}, s *State) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Snapshot(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
