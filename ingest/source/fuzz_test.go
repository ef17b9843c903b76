package source

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// dumb reads the events of a stream with encoding/json, which takes none that
// is broken: it returns false then.
func dumb(in []byte) (events []string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(in))
	if first := bytes.TrimLeft(in, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		var list []json.RawMessage
		if d.Decode(&list) != nil {
			return nil, false
		}
		for _, e := range list {
			events = append(events, string(e))
		}
		_, err := d.Token()
		return events, err == io.EOF
	}
	for {
		var e json.RawMessage
		switch err := d.Decode(&e); {
		case err == io.EOF:
			return events, true
		case err != nil || e[0] != '{':
			return nil, false
		}
		events = append(events, string(e))
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "[]", "{}", " [ {} , [1, null] ] ", "{}{}\n{}\r\n", "{\"a\":[\n{\"b\":1},\n{\"b\":2}\n]}\n{}", "{\"a\":\"}\\\"{\\\\\"}\n[", "[{},]", "{},{},", "\ufeff{}",
		"{\"a\":\n{\"b\":1}\n{\"c\":2}\n", "{\"a\":\"x\n{}", "garbage {}\n{}", "  {\"a\":tru}\n    {}\n  {}\n", event("j"), "[" + event("a") + ",\n" + event("b") + "]",
		zipped("{}"), zipped("[{}]")[:20], "\x1f\x8b", "{\"a\":\"\\ud800\"}", "{\"a\":-0.1e+5}", "[1 2]", strings.Repeat("[", 50), strings.Repeat(`{"a":`, 50),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<14 {
			t.Skip("what is checked below takes the square of the length")
		}
		packed := bytes.HasPrefix(in, []byte("\x1f\x8b"))
		mark := len(in) - len(bytes.TrimPrefix(in, []byte("\ufeff")))
		var got []string
		var faults int
		next := int64(0)
		check := func(r Raw) error {
			got = append(got, string(r.Body))
			if r.Index != len(got)-1 {
				t.Fatalf("event %d has the index %d", len(got)-1, r.Index)
			}
			if packed {
				return nil
			}
			if end := r.Offset + int64(len(r.Body)); r.Offset < next || end > int64(len(in)) || !bytes.Equal(in[r.Offset:end], r.Body) {
				t.Fatalf("event %d is not at byte %d of %q", r.Index, r.Offset, in)
			}
			next = r.Offset + int64(len(r.Body))
			if want := 1 + bytes.Count(in[:r.Offset], newline); r.Line != want {
				t.Fatalf("event %d is on line %d, not %d of %q", r.Index, want, r.Line, in)
			}
			return nil
		}
		bad := func(e *SyntaxError) error {
			faults++
			if !packed && (e.Offset < 0 || e.Offset > int64(len(in)) || e.Seen < e.Offset || e.Seen > int64(len(in)) || e.Line != 1+bytes.Count(in[:e.Offset], newline)) {
				t.Fatalf("a fault is said to be at line %d, byte %d, seen at %d, of %q", e.Line, e.Offset, e.Seen, in)
			}
			return nil
		}
		if err := Split(bytes.NewReader(in), check, bad); err != nil {
			t.Fatal(err)
		}
		if want, ok := dumb(in[mark:]); ok && !packed && (faults > 0 || strings.Join(got, "\n") != strings.Join(want, "\n")) {
			t.Fatalf("%d faults, events\n%s\nwant\n%s", faults, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		// However the bytes arrive, and wherever they are held, it is the same.
		for _, again := range []func(func(Raw) error, func(*SyntaxError) error) error{
			func(e func(Raw) error, b func(*SyntaxError) error) error {
				return Split(iotest.HalfReader(bytes.NewReader(in)), e, b)
			},
			func(e func(Raw) error, b func(*SyntaxError) error) error { return splitBody(in, e, b) },
		} {
			i, n := 0, 0
			err := again(func(r Raw) error {
				if i >= len(got) || got[i] != string(r.Body) {
					t.Fatalf("event %d is now %s", i, r.Body)
				}
				i++
				return nil
			}, func(*SyntaxError) error { n++; return nil })
			if err != nil || i != len(got) || n != faults {
				t.Fatalf("%v, %d events and %d faults, then %d and %d", err, len(got), faults, i, n)
			}
			if packed {
				break // splitBody does not unpack
			}
		}
		// After any broken lines that are not an array a sound line is found.
		if first := bytes.TrimLeft(in[mark:], " \t\r\n"); !packed && (len(first) == 0 || first[0] != '[') {
			const last = `{"last":"line"}`
			found := ""
			if err := Split(io.MultiReader(bytes.NewReader(in), strings.NewReader("\n"+last+"\n")), func(r Raw) error { found = string(r.Body); return nil }, func(*SyntaxError) error { return nil }); err != nil || found != last {
				t.Fatalf("%v, the last event is %q after %q", err, found, in)
			}
		}
	})
}
