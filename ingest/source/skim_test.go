package source

import (
	"net/http"
	"strings"
	"testing"
)

func TestABatchWithAnEventThatIsNotJSONIsRefusedWholeAndCountedOnce(t *testing.T) {
	for name, broken := range map[string]string{
		"a word":            `{"a":tru}`,
		"a missing colon":   `{"a" 1}`,
		"another bracket":   `{"a":[1}}`,
		"a comma too much":  `{"a":1,}`,
		"behind a good end": strings.Replace(event("x"), `"job":{`, `"job":{,`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			h := newHTTP(s)
			post(t, h, batchPath, "["+event("a")+","+nameless+","+broken+"]").want(http.StatusBadRequest, "not a JSON array of events")
			// Two: that without a name, and what is not JSON.
			if s.appends != 0 || h.Stats.Rejected.Load() != 2 {
				t.Errorf("%d appends, %d counted as rejected; want 0, 2", s.appends, h.Stats.Rejected.Load())
			}
		})
	}
}
