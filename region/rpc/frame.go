package rpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
)

// The kinds of frames. A question is one frameQuestion. An answer is a
// frameHead, any number of frameItems, and a frameEnd; a frameFault may come in
// the place of any. A stream that stops before frameEnd or frameFault was cut.
const (
	frameQuestion byte = iota + 1
	frameHead
	frameItems
	frameEnd
	frameFault
)

const (
	// frameHeader is a frame's kind, whether it is compressed, and the length
	// of what follows, little-endian.
	frameHeader = 1 + 1 + 4
	// compressFrom is the size from which a frame is worth compressing.
	compressFrom = 1 << 10
	// defaultMaxFrame bounds frames, compressed or not.
	defaultMaxFrame = 16 << 20
	// mostFrame is what the bound may be: lengths have 32 bits.
	mostFrame = 1 << 30
)

// errTooLarge is in the chain of errors about frames beyond the bound.
var errTooLarge = errors.New("too large for one frame")

// tooLarge says by how much a frame is beyond the bound.
func tooLarge(size, most int) error {
	return fmt.Errorf("%w: %d bytes, and %d are allowed", errTooLarge, size, most)
}

// frames writes and reads frames of at most most bytes.
type frames struct{ most int }

// append adds a frame to dst.
func (f *frames) append(dst []byte, kind byte, payload []byte) ([]byte, error) {
	if len(payload) > f.most {
		return dst, tooLarge(len(payload), f.most)
	}
	at := len(dst)
	dst = append(dst, kind, 0, 0, 0, 0, 0)
	if len(payload) >= compressFrom {
		dst = slices.Grow(dst, s2.MaxEncodedLen(len(payload)))
		room := dst[len(dst):cap(dst)]
		if packed := s2.Encode(room, payload); len(packed) <= len(payload)*7/8 { // or it is not worth opening
			dst = dst[:len(dst)+len(packed)]
			dst[at+1] = 1
		}
	}
	if dst[at+1] == 0 {
		dst = append(dst, payload...)
	}
	binary.LittleEndian.PutUint32(dst[at+2:], uint32(len(dst)-at-frameHeader))
	return dst, nil
}

// read reads one frame. The payload is the caller's; size is what the frame
// took. The end of r before the frame begins is io.EOF, and within it
// io.ErrUnexpectedEOF.
func (f *frames) read(r io.Reader) (kind byte, payload []byte, size int, err error) {
	var header [frameHeader]byte
	if n, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, n, err
	}
	n := binary.LittleEndian.Uint32(header[2:])
	if uint64(n) > uint64(f.most) {
		return 0, nil, len(header), tooLarge(int(n), f.most)
	}
	// A length is not believed before there are bytes for it.
	var b bytes.Buffer
	b.Grow(min(int(n), fullFrame) + bytes.MinRead)
	m, err := io.CopyN(&b, r, int64(n))
	size = len(header) + int(m)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, nil, size, err
	}
	switch kind = header[0]; {
	case kind < frameQuestion || kind > frameFault || header[1] > 1:
		return 0, nil, size, fmt.Errorf("a frame of kind %d.%d: %w", kind, header[1], errMessage)
	case header[1] == 0:
		return kind, b.Bytes(), size, nil
	}
	length, err := s2.DecodedLen(b.Bytes())
	if err == nil && length > f.most {
		return 0, nil, size, tooLarge(length, f.most)
	}
	if err == nil {
		payload, err = s2.Decode(nil, b.Bytes())
	}
	if err != nil {
		return 0, nil, size, fmt.Errorf("decompress a frame: %w: %w", errMessage, err)
	}
	return kind, payload, size, nil
}
