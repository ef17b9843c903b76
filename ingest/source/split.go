// Package source moves bytes from transports into decoders, and their deltas
// into a sink: HTTP, and files.
package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// A Raw is one event of a stream, and where it stands.
type Raw struct {
	// Index counts the events of the stream from 0; Offset is where in the
	// (unpacked) stream the event begins, in bytes.
	Index  int
	Offset int64
	Body   []byte
}

// A SyntaxError says where a stream is not JSON. It holds the stream's own
// words where they are short.
type SyntaxError struct {
	Offset int64
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d, byte %d: %s", e.Line, e.Offset, e.Reason)
	}
	return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason)
}

// MaxEvent is the largest event that is read, in bytes.
const MaxEvent = 256 << 20

// Split reads the events of a stream: a JSON array of them, or one after the
// other, a line each or not; packed with gzip or not. It calls event with each
// (the body is the callee's to keep) and bad with each place that is not JSON.
// After a bad place it goes on with the next line, where events stand one
// after the other; an array ends there. An error of event ends it.
func Split(r io.Reader, event func(Raw) error, bad func(*SyntaxError) error) error {
	b := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return bad(&SyntaxError{Reason: "gzip: " + err.Error()})
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	if bom, _ := b.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		_, _ = b.Discard(3)
	}
	first, skipped, err := peekByte(b)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return bad(&SyntaxError{Offset: skipped, Reason: err.Error()})
	case first == '[':
		return splitArray(b, skipped, event, bad)
	}
	return splitLines(b, skipped, event, bad)
}

// peekByte skips white space and returns the byte behind it, unread.
func peekByte(b *bufio.Reader) (c byte, skipped int64, err error) {
	for {
		p, err := b.Peek(1)
		if err != nil {
			return 0, skipped, err
		}
		switch p[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = b.Discard(1)
			skipped++
		default:
			return p[0], skipped, nil
		}
	}
}

func splitArray(r io.Reader, base int64, event func(Raw) error, bad func(*SyntaxError) error) error {
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	fail := func(err error) error {
		at := d.InputOffset()
		var s *jsontext.SyntacticError
		if errors.As(err, &s) {
			at = s.ByteOffset
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the array is not closed")
		}
		return bad(&SyntaxError{Offset: base + at, Reason: err.Error()})
	}
	if _, err := d.ReadToken(); err != nil {
		return fail(err)
	}
	for i := 0; d.PeekKind() != ']'; i++ {
		v, err := d.ReadValue()
		if err != nil {
			return fail(err)
		}
		if err := event(Raw{Index: i, Offset: base + d.InputOffset() - int64(len(v)), Body: bytes.Clone(v)}); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return fail(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return fail(errors.New("something follows the array"))
	}
	return nil
}

// splitLines finds where each object ends by its braces. A line that begins
// an object anew while one is open says that the open one was cut short.
func splitLines(b *bufio.Reader, offset int64, event func(Raw) error, bad func(*SyntaxError) error) error {
	var (
		buf        []byte
		start      = offset
		startLine  = 1
		depth      int
		text, skip bool // inside a string; behind a backslash in it
		index      int
	)
	reset := func() { buf, depth, text, skip = nil, 0, false, false }
	broken := func(reason string) error {
		e := &SyntaxError{Offset: start, Line: startLine, Reason: reason}
		reset()
		return bad(e)
	}
	for line := 1; ; line++ {
		chunk, err := b.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return bad(&SyntaxError{Offset: offset, Line: line, Reason: err.Error()})
		}
		if depth > 0 && bytes.HasPrefix(chunk, []byte(`{"`)) {
			if err := broken("this event is cut short; the next one begins on a later line"); err != nil {
				return err
			}
		}
		for i := 0; i < len(chunk); i++ {
			c := chunk[i]
			if depth == 0 {
				switch {
				case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' && index > 0:
					continue
				case c != '{':
					start, startLine = offset+int64(i), line
					if err := broken(fmt.Sprintf("an event begins with {, not with %q", c)); err != nil {
						return err
					}
					i = len(chunk)
					continue
				}
				start, startLine = offset+int64(i), line
			}
			from := i
			for i < len(chunk) {
				c := chunk[i]
				switch {
				case skip:
					skip = false
				case text && c == '\\':
					skip = true
				case c == '"':
					text = !text
				case text:
				case c == '{' || c == '[':
					depth++
				case c == '}' || c == ']':
					depth--
				}
				if depth == 0 {
					break
				}
				i++
			}
			end := min(i+1, len(chunk))
			buf = append(buf, chunk[from:end]...)
			if len(buf) > MaxEvent {
				if err := broken(fmt.Sprintf("this event has more than %d MiB", MaxEvent>>20)); err != nil {
					return err
				}
			}
			if depth == 0 && len(buf) > 0 {
				raw := Raw{Index: index, Offset: start, Body: buf}
				index++
				buf = nil
				if err := event(raw); err != nil {
					return err
				}
			}
		}
		offset += int64(len(chunk))
		if err != nil {
			break
		}
	}
	if depth > 0 {
		return broken("this event is cut short by the end of the file")
	}
	return nil
}
