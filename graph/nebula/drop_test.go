package nebula

import (
	"strings"
	"testing"
)

func TestDropTakesTheSpaceAwayAndDoesNotMindThatItIsGone(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := dialed(t, o)
		if err := bringUp(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := Drop(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.once(t.Context(), false, "DESC SPACE "+o.Space, nil); err == nil || !strings.Contains(err.Error(), "SpaceNotFound") {
			t.Errorf("the space is described: %v", err)
		}
	})
}
