package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

var (
	errBusy     = errors.New("too many bytes are being taken in at once")
	errBody     = errors.New("read the body")
	errEncoding = errors.New("Content-Encoding is not one of gzip, identity")
)

// piece is how much of a body is read at once. In between its bytes are
// counted, and its client gets time anew.
const piece = 256 << 10

// keepBody bounds the memory that is kept for later bodies, of each.
const keepBody = 4 << 20

// A share is what one body has of the bytes at hand.
type share struct {
	all        *atomic.Int64
	most, held int64
}

// take adds n bytes, or gives back what the share has and reports false: in
// one step, so that of bodies that fill all together one at a time gives way,
// until the others fit. A body that is alone always fits.
func (s *share) take(n int64) bool {
	for {
		all := s.all.Load()
		if all+n > s.most && all > s.held {
			if s.all.CompareAndSwap(all, all-s.held) {
				s.held = 0
				return false
			}
			continue
		}
		if s.all.CompareAndSwap(all, all+n) {
			s.held += n
			return true
		}
	}
}

func (s *share) release() {
	s.all.Add(-s.held)
	s.held = 0
}

// body reads a body, unpacked. release gives back its bytes to the others; it
// must not be used after that.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) (b []byte, release func(), err error) {
	held := share{all: &h.bytes, most: h.o.MaxBytes}
	release = held.release
	if r.ContentLength > h.o.MaxBody {
		return nil, release, &http.MaxBytesError{Limit: h.o.MaxBody}
	}
	var in io.Reader = http.MaxBytesReader(w, r.Body, h.o.MaxBody)
	packed := false
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		packed = true
	default:
		return nil, release, fmt.Errorf("%q: %w", encoding, errEncoding)
	}
	// A client that stops sending must not keep its bytes from the others. The
	// deadline stays where reading fails: the server reads on for a little.
	connection := http.NewResponseController(w)
	// Where there is no connection, as in a test, there are no deadlines.
	patience := func() { _ = connection.SetReadDeadline(time.Now().Add(h.o.BodyTimeout)) }
	patience()
	if packed {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, release, h.bodyError(err, packed)
		}
		in = z
	}
	buf, ok := h.bodies.Get().(*bytes.Buffer)
	if !ok {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	release = func() {
		held.release()
		if buf.Cap() <= keepBody {
			h.bodies.Put(buf)
		}
	}
	buf.Grow(int(max(512, min(r.ContentLength+512, piece))))
	for {
		n, err := io.CopyN(buf, in, piece)
		if n > 0 && !held.take(n) {
			return nil, release, errBusy
		}
		if int64(buf.Len()) > h.o.MaxBody {
			return nil, release, &http.MaxBytesError{Limit: h.o.MaxBody}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, release, h.bodyError(err, packed)
		}
		patience()
	}
	if !packed && bytes.HasPrefix(buf.Bytes(), []byte("\x1f\x8b")) {
		return nil, release, fmt.Errorf("%w: it is packed with gzip; say so with Content-Encoding: gzip", errBody)
	}
	_ = connection.SetReadDeadline(time.Time{}) // as above
	return buf.Bytes(), release, nil
}

func (h *HTTP) bodyError(err error, packed bool) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case packed:
		return fmt.Errorf("%w: gzip: %w", errBody, err)
	}
	return fmt.Errorf("%w: %w", errBody, err)
}
