package openlineage

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"headwater/ingest"
)

// BenchmarkDecode decodes events of our own, among them one of the usual size
// (spark_complete), and one of the greatest.
func BenchmarkDecode(b *testing.B) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil {
		b.Fatal(err)
	}
	bodies := map[string][]byte{"24 MB": []byte(outputWith(`"columnLineage": {"fields": {` + each(150_000,
		`"column_%[1]d": {"inputFields": [{"namespace": "hive://metastore:9083", "name": "db.t", "field": "column_%[1]d", "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}]}]}`) + `}}`))}
	for _, p := range paths {
		if bodies[filepath.Base(p)], err = os.ReadFile(p); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		body := bodies[name]
		b.Run(name, func(b *testing.B) {
			m := ingest.Message{Body: body, Region: "eu", Received: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Decode(m)
			}
		})
	}
}
