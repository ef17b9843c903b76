package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// split writes down what Split makes of a stream: a line for each event, with
// its number, line and byte, and for each bad place.
func split(in io.Reader) (string, error) {
	var out strings.Builder
	err := Split(in, func(r Raw) error {
		fmt.Fprintf(&out, "%d %d:%d %s\n", r.Index, r.Line, r.Offset, r.Body)
		return nil
	}, func(e *SyntaxError) error {
		fmt.Fprintf(&out, "! %d:%d %s\n", e.Line, e.Offset, e.Reason)
		return nil
	})
	return out.String(), err
}

func TestSplitFindsEventsInEveryForm(t *testing.T) {
	const a, b = `{"a":1}`, `{"b":{"c":[{},{"d":"}\"{\\"}]}}`
	for title, c := range map[string]struct{ in, want string }{
		"nothing":                {"", ""},
		"white space":            {" \r\n\t\n", ""},
		"empty array":            {" [ \n ] ", ""},
		"array":                  {"[" + a + "," + b + "]", "0 1:1 " + a + "\n1 1:9 " + b + "\n"},
		"array, pretty":          {"[\n  " + a + "\n  ,\n  " + b + "\n]\n", "0 2:4 " + a + "\n1 4:18 " + b + "\n"},
		"array of other values":  {`[1, "x", null, []]`, "0 1:1 1\n1 1:4 \"x\"\n2 1:9 null\n3 1:15 []\n"},
		"lines":                  {a + "\n" + b + "\n", "0 1:0 " + a + "\n1 2:8 " + b + "\n"},
		"lines, CRLF and blank":  {a + "\r\n\r\n" + b + "\r\n", "0 1:0 " + a + "\n1 3:11 " + b + "\n"},
		"lines without last end": {a + "\n" + b, "0 1:0 " + a + "\n1 2:8 " + b + "\n"},
		"concatenated":           {a + b + a, "0 1:0 " + a + "\n1 1:7 " + b + "\n2 1:38 " + a + "\n"},
		"lines with commas":      {a + ",\n" + b + ",\n", "0 1:0 " + a + "\n1 2:9 " + b + "\n"},
		"indented lines":         {"  " + a + "\n  " + b, "0 1:2 " + a + "\n1 2:12 " + b + "\n"},
		"byte order mark":        {"\ufeff" + a + "\n" + a, "0 1:3 " + a + "\n1 2:11 " + a + "\n"},
		"mark and array":         {"\ufeff[" + a + "]", "0 1:4 " + a + "\n"},
		"members on lines that begin with a brace": {"{\"x\":[\n{\"y\":1},\n{\"y\":2}\n]}\n" + a, "0 1:0 {\"x\":[\n{\"y\":1},\n{\"y\":2}\n]}\n1 5:27 " + a + "\n"},
		"keys twice":      {`{"a":1,"a":2}`, `0 1:0 {"a":1,"a":2}` + "\n"},
		"not UTF-8":       {"{\"a\":\"\xff\"}\n" + a, "0 1:0 {\"a\":\"\xff\"}\n1 2:10 " + a + "\n"},
		"line separators": {"{\"a\":\"\u2028\u0085\"}", "0 1:0 {\"a\":\"\u2028\u0085\"}\n"},
	} {
		t.Run(title, func(t *testing.T) {
			for form, in := range map[string]io.Reader{
				"plain":            strings.NewReader(c.in),
				"byte by byte":     iotest.OneByteReader(strings.NewReader(c.in)),
				"packed":           strings.NewReader(zipped(c.in)),
				"in two members":   strings.NewReader(zipped(c.in[:len(c.in)/2]) + zipped(c.in[len(c.in)/2:])),
				"packed, by bytes": iotest.OneByteReader(strings.NewReader(zipped(c.in))),
			} {
				got, err := split(in)
				if err != nil || got != c.want {
					t.Errorf("%s: %v, got\n%swant\n%s", form, err, got, c.want)
				}
			}
		})
	}
}

func TestSplitNamesBadPlacesAndFindsWhatFollows(t *testing.T) {
	const a = `{"a":1}`
	const cut, ends = "the event is cut short: the end comes before its last bracket", "; the array is not read further"
	for title, c := range map[string]struct{ in, want string }{
		"cut in a string": {a + "\n{\"a\":\"xy\n" + a + "\n" + a,
			"0 1:0 " + a + "\n! 2:8 the event is not JSON: invalid character '\\n' in string (expecting non-control character) in /a (line 2, byte 16)\n1 3:17 " + a + "\n2 4:25 " + a + "\n"},
		"cut after a comma": {"{\"a\":1,\n" + a + "\n" + a,
			"! 1:0 the event is not JSON: invalid character '{' at start of string (expecting '\"') (line 2, byte 8)\n0 2:8 " + a + "\n1 3:16 " + a + "\n"},
		"cut before a value, which the next event becomes": {"{\"a\":\n" + a + "\n" + a + "\n" + a,
			"! 1:0 the event is not JSON: invalid character '{' after object value (expecting ',' or '}') (line 3, byte 14)\n0 2:6 " + a + "\n1 3:14 " + a + "\n2 4:22 " + a + "\n"},
		"cut twice in that way, at the end": {"{\"a\":\n{\"b\":\n" + a,
			"! 1:0 " + cut + "\n! 2:6 " + cut + "\n0 3:12 " + a + "\n"},
		"cut at the end": {a + "\n{\"a\":[1,{\"b\":2}", "0 1:0 " + a + "\n! 2:8 " + cut + "\n"},
		"CRLF":           {"{\"a\":\"x\r\n" + a + "\r\n", "! 1:0 the event is not JSON: invalid character '\\r' in string (expecting non-control character) in /a (line 1, byte 7)\n0 2:9 " + a + "\n"},
		"pretty-printed": {"{\n  \"a\": tru,\n  \"b\": [\n    {}\n  ]\n}\n{\n  \"a\": 1\n}\n",
			"! 1:0 the event is not JSON: invalid character ',' in literal true (expecting 'e') in /a (line 2, byte 12)\n0 7:36 {\n  \"a\": 1\n}\n"},
		"indented": {"  {\"a\":tru}\n    {\"not\":\"an event\"}\n  " + a + "\n",
			"! 1:2 the event is not JSON: invalid character '}' in literal true (expecting 'e') in /a (line 1, byte 10)\n0 3:37 " + a + "\n"},
		"garbage lines": {"hello {\"a\":1}\n" + a + "\n}\n\x00\xff\n" + a,
			"! 1:0 an event begins with {, not with 'h'\n0 2:14 " + a + "\n! 3:22 an event begins with {, not with '}'\n! 4:24 an event begins with {, not with '\\x00'\n1 5:27 " + a + "\n"},
		"text behind an event": {a + " and more\n" + a, "0 1:0 " + a + "\n! 1:8 an event begins with {, not with 'a'\n1 2:17 " + a + "\n"},
		"array in a line":      {a + "\n[" + a + "]\n" + a, "0 1:0 " + a + "\n! 2:8 an event begins with {, not with '['\n1 3:18 " + a + "\n"},
		"broken, then behind an event": {a + `{"b" 1} ` + a + "\n" + a,
			"0 1:0 " + a + "\n! 1:7 the event is not JSON: invalid character '1' after object name (expecting ':') in /b (line 1, byte 12)\n1 2:23 " + a + "\n"},
		"array, trailing comma": {"[" + a + ",\n]", "0 1:1 " + a + "\n! 2:10 an event is missing before ']'" + ends + "\n"},
		"array, no comma":       {"[" + a + "\n" + a + "]", "0 1:1 " + a + "\n! 2:9 after an event of an array comes , or ], not '{'" + ends + "\n"},
		"array, two commas":     {"[" + a + ",," + a + "]", "0 1:1 " + a + "\n! 1:9 an event is missing before ','" + ends + "\n"},
		"array, leading comma":  {"[," + a + "]", "! 1:1 an event is missing before ','" + ends + "\n"},
		"array, not closed":     {"[" + a + ",", "0 1:1 " + a + "\n! 1:9 the array is not closed\n"},
		"array, only opened":    {"[", "! 1:1 the array is not closed\n"},
		"array, cut":            {"[" + a + ",{\"a\":", "0 1:1 " + a + "\n! 1:9 " + cut + ends + "\n"},
		"array, text behind":    {"[" + a + "]\n[]", "0 1:1 " + a + "\n! 2:10 something follows the array: '['\n"},
		"never ending brackets": {strings.Repeat(`{"a":[`, 10_000) + "\n" + a, "! 1:0 the event is not JSON: exceeded max depth (line 1, byte 30000)\n0 2:60001 " + a + "\n"},
	} {
		t.Run(title, func(t *testing.T) {
			for form, in := range map[string]io.Reader{
				"plain": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)), "packed": strings.NewReader(zipped(c.in)),
			} {
				got, err := split(in)
				if err != nil || got != c.want {
					t.Errorf("%s: %v, got\n%swant\n%s", form, err, got, c.want)
				}
			}
		})
	}
}

func TestSplitTakesWhatStandsBeforeTheBreakOfAPackedStream(t *testing.T) {
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "{\"a\":\"%d\"}\n", i*7919)
	}
	whole := zipped(lines.String())
	for title, c := range map[string]struct{ in, reason string }{
		"cut":         {whole[:len(whole)/2], "gzip: the stream is cut short"},
		"head only":   {whole[:5], "gzip: the stream is cut short"},
		"no checksum": {whole[:len(whole)-8], "gzip: the stream is cut short"},
		"checksum":    {whole[:len(whole)-8] + "XXXX" + whole[len(whole)-4:], "gzip: gzip: invalid checksum"},
		"text behind": {whole + "hello, hello", "gzip: gzip: invalid header"},
	} {
		t.Run(title, func(t *testing.T) {
			events, faults := 0, []string{}
			err := Split(strings.NewReader(c.in), func(r Raw) error {
				if want := fmt.Sprintf(`{"a":"%d"}`, events*7919); string(r.Body) != want || r.Line != events+1 {
					t.Fatalf("event %d is %s, line %d", events, r.Body, r.Line)
				}
				events++
				return nil
			}, func(e *SyntaxError) error { faults = append(faults, e.Reason); return nil })
			if err != nil || len(faults) != 1 || faults[0] != c.reason {
				t.Errorf("%v, faults %q; want %q", err, faults, c.reason)
			}
			if least := map[string]int{"cut": 5_000, "head only": 0}; events < least[title] || strings.HasPrefix(title, "no") && events != 20_000 {
				t.Errorf("%d events were found", events)
			}
		})
	}
}

func TestSplitReturnsAnErrorOfReading(t *testing.T) {
	broken := errors.New("injected")
	for title, whole := range map[string]string{
		"lines": `{"a":1}` + "\n" + `{"a":1}` + "\n" + `{"a"`, "array": `[{"a":1},{"a":1},`, "nothing": "", "garbage": "{\"a\":1}{\"a\":1}\nhello",
		"gzip head": zipped("x")[:4], "gzip": zipped(`{"a":1}{"a":1}`)[:25], "broken event": `{"a":1}{"a":1}{"a" `,
	} {
		t.Run(title, func(t *testing.T) {
			got, err := split(io.MultiReader(strings.NewReader(whole), iotest.ErrReader(broken)))
			if !errors.Is(err, broken) || strings.Contains(got, "cut short") || strings.Contains(got, "gzip") {
				t.Errorf("%v, got\n%s", err, got)
			}
		})
	}
}

func TestSplitStopsAtAnErrorOfItsCallbacks(t *testing.T) {
	stop := errors.New("stop")
	for _, in := range []string{`{"a":1}{"a":2}`, `[{"a":1},{"a":2}]`, "garbage\n{}", "{\n{", "[,"} {
		calls := 0
		err := Split(strings.NewReader(in), func(Raw) error { calls++; return stop }, func(*SyntaxError) error { calls++; return stop })
		if err != stop || calls != 1 {
			t.Errorf("%q: %v after %d calls", in, err, calls)
		}
	}
}

func TestSplitKeepsLittleOfALargeStream(t *testing.T) {
	// An event of 24 MB between small ones, then a line that never ends.
	large := `{"x":"` + strings.Repeat("y", 24<<20) + `"}`
	small := `{"a":1}` + "\n"
	in := io.MultiReader(strings.NewReader(strings.Repeat(small, 1000)), strings.NewReader(large+"\n"), strings.NewReader(strings.Repeat(small, 1000)),
		strings.NewReader("garbage"), io.LimitReader(zeros{}, 300<<20), strings.NewReader("\n"+small))
	var sizes [2]int
	faults, last := 0, Raw{}
	err := Split(in, func(r Raw) error {
		sizes[min(1, len(r.Body)/100)]++
		if !json.Valid(r.Body) {
			t.Fatalf("event %d is not JSON", r.Index)
		}
		last = r
		return nil
	}, func(*SyntaxError) error { faults++; return nil })
	if err != nil || sizes != [2]int{2001, 1} || faults != 1 || last.Line != 2003 {
		t.Errorf("%v, %d small and large, %d faults, the last on line %d", err, sizes, faults, last.Line)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestSplitGivesBodiesThatItsCallerMayKeep(t *testing.T) {
	var in strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&in, "{\"n\":%d}", i)
	}
	for form, run := range map[string]func(func(Raw) error, func(*SyntaxError) error) error{
		"stream": func(e func(Raw) error, b func(*SyntaxError) error) error {
			return Split(strings.NewReader(in.String()), e, b)
		},
		"body": func(e func(Raw) error, b func(*SyntaxError) error) error { return splitBody([]byte(in.String()), e, b) },
	} {
		var all [][]byte
		if err := run(func(r Raw) error { all = append(all, r.Body); return nil }, func(e *SyntaxError) error { return e }); err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			_ = append(b, "overwritten"...) // as a callee may
		}
		for i, b := range all {
			if want := fmt.Appendf(nil, "{\"n\":%d}", i); !bytes.Equal(b, want) {
				t.Fatalf("%s: event %d is %s", form, i, b)
			}
		}
	}
}
