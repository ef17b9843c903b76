package openlineage

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"headwater/ingest"
)

// BenchmarkDecode decodes events of our own, among them one of the usual size
// (spark_complete).
func BenchmarkDecode(b *testing.B) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range paths {
		body, err := os.ReadFile(p)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(p), func(b *testing.B) {
			m := ingest.Message{Body: body, Region: "eu", Received: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Decode(m)
			}
		})
	}
}
