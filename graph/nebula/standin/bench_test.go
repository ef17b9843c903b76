package standin

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParse measures what an INSERT of a thousand edges costs, most of
// which the suites of engines spend here.
func BenchmarkParse(b *testing.B) {
	var rows []string
	for i := range 1000 {
		rows = append(rows, fmt.Sprintf(`"%032d"->"%032d"@%d:("%040d", 3, false, 17)`, i, i+1, i*7919, i))
	}
	text := `INSERT EDGE flow(sayer, kinds, coarse, opened) VALUES ` + strings.Join(rows, ", ")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
