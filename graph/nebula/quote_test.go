package nebula

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"headwater/graph/nebula/standin"
)

func TestQuoteEscapesWhatLiteralsCanNotHold(t *testing.T) {
	for s, want := range map[string]string{
		"":                  `""`,
		"plain":             `"plain"`,
		`say "hi"`:          `"say \"hi\""`,
		`back\slash`:        `"back\\slash"`,
		"two\nlines":        `"two\nlines"`,
		"a\x00b":            `"a\u0000b"`,
		"tab\tcr\r\x01\x7f": "\"tab\tcr\r\x01\x7f\"",
		"é😀\xff\xfe":        "\"é😀\xff\xfe\"",
		"it's $x # // /*":   `"it's $x # // /*"`,
	} {
		if got := quote(s); got != want {
			t.Errorf("quote(%q) = %s, want %s", s, got, want)
		}
	}
}

const quoteTag = "CREATE TAG IF NOT EXISTS quoted(x string)"

// quoting returns a function that writes a string as a literal, as a parameter
// and as an id, reads it back, and says what is different.
func quoting(t testing.TB, o Options) func(s string) error {
	p := dialed(t, o)
	if err := bringUp(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := p.patient(t.Context(), true, notYet, quoteTag); err != nil {
		t.Fatal(err)
	}
	if _, err := p.patient(t.Context(), true, notYet, `INSERT VERTEX quoted(x) VALUES "first":("")`); err != nil {
		t.Fatal(err)
	}
	return func(s string) error {
		ctx := context.Background()
		vid := s[:min(len(s), vidBytes-1)] + "!" // the NULs at the end of an id are lost
		text := "INSERT VERTEX quoted(x) VALUES " + quote(vid) + ":(" + quote(s) + `), "param":($s)`
		if _, err := p.run(ctx, text, map[string]any{"s": s}); err != nil {
			return err
		}
		rs, err := p.run(ctx, "UNWIND $ids AS id | FETCH PROP ON quoted $-.id YIELD id(vertex) AS v, quoted.x AS x", map[string]any{"ids": []string{vid, "param"}})
		if err != nil {
			return err
		}
		got := map[string]string{}
		for _, row := range rs.GetRows() {
			got[string(row.Values[0].GetSVal())] = string(row.Values[1].GetSVal())
		}
		if want := map[string]string{vid: s, "param": s}; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			return fmt.Errorf("wrote %q, read %q", want, got)
		}
		return nil
	}
}

func TestAnyStringSurvivesAWriteAndARead(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		check := quoting(t, o)
		var all []byte
		for c := range 256 {
			all = append(all, byte(c))
			if err := check(string([]byte{byte(c)})); err != nil {
				t.Errorf("byte %d: %v", c, err)
			}
		}
		if err := check(string(all)); err != nil {
			t.Error(err)
		}
		// A literal of megabytes would be within what is allowed, but slow.
		must(t, dialed(t, o), `INSERT VERTEX quoted(x) VALUES "long":($s)`, map[string]any{"s": strings.Repeat("long\x00", 1<<20)})
		if n := len(must(t, dialed(t, o), `FETCH PROP ON quoted "long" YIELD quoted.x AS x`, nil).GetRows()[0].Values[0].GetSVal()); n != 5<<20 {
			t.Errorf("of 5 MiB %d bytes came back", n)
		}
		r := rand.New(rand.NewPCG(1, 2))
		const alphabet = "ab\\\"'\n\x00nu0x1é\xff$#/*"
		for range 300 {
			b := make([]byte, r.IntN(40))
			for i := range b {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
			if err := check(string(b)); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `\`, `"`, "\n", "\x00", `\u0000`, `\` + "\n", "\\\x00", `a'b"c`, "😀", "\xff\xfe\x00", `\101\8`, "$x -- # /* */"} {
		f.Add(s)
	}
	_, o := startStandIn(f, standin.Options{})
	check := quoting(f, o)
	f.Fuzz(func(t *testing.T, s string) {
		if err := check(s); err != nil {
			t.Error(err)
		}
	})
}
