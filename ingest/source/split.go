// Package source moves bytes from transports into decoders, and their deltas
// into a sink: HTTP, and files.
//
// split.go finds the events of a stream, over window.go; http.go takes events
// in, with body.go, which reads what was sent, and answer.go, which has the
// forms of the answers; files.go lists files and load.go sends them to a server.
package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// A Raw is one event of a stream, and where it stands.
type Raw struct {
	// Index counts the events of the stream from 0. Offset and Line are where
	// in the (unpacked) stream the event begins: bytes from 0, lines from 1.
	Index  int
	Offset int64
	Line   int
	Body   []byte
}

// A SyntaxError says where a stream is not JSON.
type SyntaxError struct {
	// Offset and Line are where what can't be read begins: the event that is
	// broken. Seen is where the fault was seen.
	Offset int64
	Line   int
	Seen   int64
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, byte %d: %s", e.Line, e.Offset, e.Reason)
}

// MaxEvent is the largest event that is read, in bytes.
const MaxEvent = 256 << 20

// Split reads the events of a stream: a JSON array of them, or one after the
// other, a line each or not, with commas or not; packed with gzip or not. It
// calls event with each (the body is the callee's to keep) and bad with each
// place that is not JSON.
//
// Where events stand one after the other it goes on after a bad place: behind
// the line where no event begins, or with the first line after the beginning
// of a broken event that begins with { and is not indented deeper than that.
// An array ends at a bad place. An error of event, of bad, or of reading r ends
// the stream and is returned; a gzip stream that is broken is a bad place.
func Split(r io.Reader, event func(Raw) error, bad func(*SyntaxError) error) error {
	disk := &noted{r: r}
	s := splitter{w: window{r: disk, line: 1}, event: event, bad: bad}
	if s.w.has("\x1f\x8b") {
		z, err := gzip.NewReader(io.MultiReader(bytes.NewReader(s.w.buf), disk))
		if disk.err != nil {
			return disk.err
		}
		if err != nil {
			return bad(&SyntaxError{Line: 1, Reason: "gzip: " + gzipReason(err)})
		}
		s.w = window{r: z, line: 1}
	}
	err := s.split()
	var broken *readError
	switch {
	case !errors.As(err, &broken):
		return err
	case disk.err != nil:
		return disk.err
	}
	w := &s.w
	return bad(&SyntaxError{Offset: w.base, Line: w.line, Seen: w.base + int64(len(w.buf)), Reason: "gzip: " + gzipReason(broken.err)})
}

// splitBody is Split of a body that is at hand, and not packed. The events'
// bodies are parts of it.
func splitBody(body []byte, event func(Raw) error, bad func(*SyntaxError) error) error {
	s := splitter{w: window{buf: body, end: io.EOF, line: 1}, event: event, bad: bad}
	return s.split()
}

// skimBody is splitBody for who decodes the events, and so finds out whether
// they are JSON: an object ends where its brackets do, whatever is in them.
func skimBody(body []byte, event func(Raw) error, bad func(*SyntaxError) error) error {
	s := splitter{w: window{buf: body, end: io.EOF, line: 1}, event: event, bad: bad, skim: true}
	return s.split()
}

// isJSON reports whether b is one value.
func isJSON(b []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadValue()
	return err == nil && d.InputOffset() == int64(len(b))
}

// bracketEnd returns where the object ends that b begins with, by its brackets,
// or 0 where it does not.
func bracketEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func gzipReason(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the stream is cut short"
	}
	return err.Error()
}

// A noted reader keeps the error that it met.
type noted struct {
	r   io.Reader
	err error
}

func (n *noted) Read(p []byte) (int, error) {
	c, err := n.r.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return c, err
}

type splitter struct {
	w     window
	d     jsontext.Decoder
	event func(Raw) error
	bad   func(*SyntaxError) error
	skim  bool
	index int
	// indent is how much white space the line begins with where w begins;
	// blank says that nothing else came on it yet.
	indent int
	blank  bool
}

func (s *splitter) split() error {
	s.blank = true
	if bom := "\xef\xbb\xbf"; s.w.has(bom) {
		s.w.drop(len(bom))
	}
	c, err := s.next()
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case c == '[':
		return s.array()
	}
	return s.lines()
}

// next drops white space and returns the byte behind it, with which w begins
// then; io.EOF where there is none.
func (s *splitter) next() (byte, error) {
	for {
		if err := s.w.fill(1); err != nil {
			return 0, err
		}
		for i, c := range s.w.buf {
			switch c {
			case '\n':
				s.indent, s.blank = 0, true
			case ' ', '\t', '\r':
				if s.blank {
					s.indent++
				}
			default:
				s.w.drop(i)
				s.blank = false
				return c, nil
			}
		}
		s.w.drop(len(s.w.buf))
	}
}

// value reads the value that w begins with, and drops it. Where that is not
// JSON, w stays.
func (s *splitter) value() (Raw, *SyntaxError, error) {
	w := &s.w
	if s.skim && w.buf[0] == '{' {
		if n := bracketEnd(w.buf); n > 0 {
			return s.took(n), nil, nil
		}
	}
	var in io.Reader = w
	if w.r == nil {
		in = bytes.NewBuffer(w.buf) // is read without a copy
	}
	w.given = 0
	s.d.Reset(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := s.d.ReadValue()
	if err == nil {
		return s.took(int(s.d.InputOffset())), nil, nil
	}
	fault := &SyntaxError{Offset: w.base, Line: w.line, Seen: w.base + int64(len(w.buf))}
	var broken *readError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &broken):
		return Raw{}, nil, broken
	case errors.Is(err, errTooLarge):
		fault.Reason = fmt.Sprintf("the event has more than %d MiB", MaxEvent>>20)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		fault.Reason = "the event is cut short: the end comes before its last bracket"
	case errors.As(err, &syntax):
		fault.Seen = w.base + syntax.ByteOffset
		fault.Reason = "the event is not JSON: " + syntax.Err.Error()
		if p := string(syntax.JSONPointer); p != "" && len(p) < 200 {
			fault.Reason += " in " + p
		}
		if n := int(syntax.ByteOffset); n > 0 && n <= len(w.buf) {
			fault.Reason += fmt.Sprintf(" (line %d, byte %d)", w.line+bytes.Count(w.buf[:n], newline), fault.Seen)
		}
	default:
		fault.Reason = err.Error()
	}
	return Raw{}, fault, nil
}

// took takes the n bytes that w begins with as an event.
func (s *splitter) took(n int) Raw {
	w := &s.w
	raw := Raw{Index: s.index, Offset: w.base, Line: w.line, Body: w.buf[:n:n]}
	if w.r != nil {
		raw.Body = bytes.Clone(raw.Body)
	}
	s.index++
	w.drop(n)
	return raw
}

func (s *splitter) here(reason string) *SyntaxError {
	return &SyntaxError{Offset: s.w.base, Line: s.w.line, Seen: s.w.base, Reason: reason}
}

// array reads the events of the array that w begins with.
func (s *splitter) array() error {
	const ends = "; the array is not read further"
	s.w.drop(1)
	for {
		c, err := s.next()
		if err == nil && c == ',' && s.index > 0 {
			s.w.drop(1)
			c, err = s.next()
		} else if err == nil && c == ']' {
			break
		} else if err == nil && s.index > 0 {
			return s.bad(s.here(fmt.Sprintf("after an event of an array comes , or ], not %q%s", c, ends)))
		}
		switch {
		case err == io.EOF:
			return s.bad(s.here("the array is not closed"))
		case err != nil:
			return err
		case c == ']' || c == ',':
			return s.bad(s.here(fmt.Sprintf("an event is missing before %q%s", c, ends)))
		}
		raw, fault, err := s.value()
		switch {
		case err != nil:
			return err
		case fault != nil:
			fault.Reason += ends
			return s.bad(fault)
		}
		if err := s.event(raw); err != nil {
			return err
		}
	}
	s.w.drop(1)
	switch c, err := s.next(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	default:
		return s.bad(s.here(fmt.Sprintf("something follows the array: %q", c)))
	}
}

// lines reads events that stand one after the other.
func (s *splitter) lines() error {
	for {
		c, err := s.next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c == ',' && s.index > 0:
			s.w.drop(1)
			continue
		case c != '{':
			if err := s.bad(s.here(fmt.Sprintf("an event begins with {, not with %q", c))); err != nil {
				return err
			}
			if err := s.skipLine(); err != nil {
				return eof(err)
			}
			continue
		}
		raw, fault, err := s.value()
		switch {
		case err != nil:
			return err
		case fault == nil:
			err = s.event(raw)
		default:
			if err = s.bad(fault); err == nil {
				err = eof(s.resync())
			}
		}
		if err != nil {
			return err
		}
	}
}

func eof(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// resync drops the broken event that w begins with, up to the next line that
// an event may begin on.
func (s *splitter) resync() error {
	most := s.indent
	for {
		if err := s.skipLine(); err != nil {
			return err
		}
		for n := 0; n <= most; n++ {
			if err := s.w.fill(n + 1); err != nil {
				return err
			}
			c := s.w.buf[n]
			if c == '{' {
				return nil
			}
			if c != ' ' && c != '\t' {
				break
			}
		}
	}
}

// skipLine drops the rest of the line.
func (s *splitter) skipLine() error {
	for {
		if err := s.w.fill(1); err != nil {
			return err
		}
		if i := bytes.IndexByte(s.w.buf, '\n'); i >= 0 {
			s.w.drop(i + 1)
			s.indent, s.blank = 0, true
			return nil
		}
		s.w.drop(len(s.w.buf))
	}
}
