package source

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

var newline = []byte{'\n'}

// A window is a stream of which what may be needed again is kept. It is also
// a reader of what it holds and of what follows, for a decoder that may have
// to begin anew.
type window struct {
	// r is what is read from; nil where buf is all there is.
	r io.Reader
	// buf is what is kept; it begins at base, on a line, and ends with end.
	buf  []byte
	base int64
	line int
	end  error
	// given is how much of buf was read since it was last set to 0.
	given int
}

// A readError is an error of the reader below.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

var errTooLarge = errors.New("the event is too large")

// fill makes sure that n bytes are there, or says why not: io.EOF or a
// readError.
func (w *window) fill(n int) error {
	for len(w.buf) < n {
		if w.end != nil {
			return w.end
		}
		w.buf = slices.Grow(w.buf, 32<<10)
		got, err := w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+got]
		if err == io.EOF {
			w.end = err
		} else if err != nil {
			w.end = &readError{err}
		}
	}
	return nil
}

// has reports whether the window begins with a prefix.
func (w *window) has(prefix string) bool {
	return w.fill(len(prefix)) == nil && string(w.buf[:len(prefix)]) == prefix
}

// drop forgets the first n bytes, which are there.
func (w *window) drop(n int) {
	w.line += bytes.Count(w.buf[:n], newline)
	w.base += int64(n)
	w.buf = w.buf[n:]
}

// Read reads on from what was given. It gives little at first and more to who
// comes again: what a decoder has read beyond the end of a value is read again
// for the next one.
func (w *window) Read(p []byte) (int, error) {
	if w.given >= MaxEvent {
		return 0, errTooLarge
	}
	if err := w.fill(w.given + 1); err != nil {
		return 0, err
	}
	n := copy(p[:min(len(p), max(2<<10, w.given))], w.buf[w.given:])
	w.given += n
	return n, nil
}
