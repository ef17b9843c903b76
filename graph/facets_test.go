package graph_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"headwater/graph"
)

func FuzzFacetsSplitAsJSONDoes(f *testing.F) {
	for _, s := range []string{"", "{}", " { } ", `{"a":1}`, `{"a" : {"b":[1,"}]\""]} , "c\u0041":null}`, `{"a":"x\\"}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1}x`, `[1]`, `{"a":[}`, `{"a":1 2}`, `"a"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := graph.SplitFacets(b)
		var want map[string]json.RawMessage
		if len(b) > 0 && (json.Unmarshal(b, &want) != nil || want == nil) {
			if err == nil && json.Valid(b) {
				t.Errorf("%q is no object, but was split into %q", b, got)
			}
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: got %q, %v; want %q", b, got, err, want)
		}
		for name, facet := range want {
			if !bytes.Equal(got[name], facet) && bytes.Equal(bytes.ToValidUTF8(b, nil), b) {
				t.Errorf("%q: facet %q is %q, want %q", b, name, got[name], facet)
			}
		}
	})
}
