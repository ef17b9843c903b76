package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"headwater/graph"
)

func TestFramesComeBackAndSmallOnesAreNotCompressed(t *testing.T) {
	f := &frames{1 << 20}
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	for _, tc := range []struct {
		payload []byte
		size    func(int) bool
	}{
		{nil, func(n int) bool { return n == frameHeader }},
		{bytes.Repeat([]byte("a"), compressFrom-1), func(n int) bool { return n == frameHeader+compressFrom-1 }},
		{bytes.Repeat([]byte("a"), 1<<20), func(n int) bool { return n < 1000 }},
		{random, func(n int) bool { return n == frameHeader+len(random) }},
	} {
		b, err := f.append([]byte("before"), frameItems, tc.payload)
		if err != nil {
			t.Fatal(err)
		}
		b = b[len("before"):]
		if !tc.size(len(b)) {
			t.Errorf("%d bytes became %d", len(tc.payload), len(b))
		}
		kind, got, n, err := f.read(bytes.NewReader(append(b, "after"...)))
		if err != nil || kind != frameItems || n != len(b) || !bytes.Equal(got, tc.payload) {
			t.Errorf("%d bytes came back as kind %d, %d bytes of %d, %v", len(tc.payload), kind, len(got), n, err)
		}
		for _, cut := range []int{1, frameHeader, len(b) - 1} {
			if _, _, _, err := f.read(bytes.NewReader(b[:cut])); cut < len(b) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut after %d bytes: %v, want ErrUnexpectedEOF", cut, err)
			}
		}
	}
	if _, _, _, err := f.read(strings.NewReader("")); err != io.EOF {
		t.Errorf("%v, want EOF", err)
	}
}

func TestFramesBeyondTheBoundAreRefused(t *testing.T) {
	f, large := &frames{1 << 16}, &frames{1 << 24}
	if _, err := f.append(nil, frameItems, make([]byte, 1<<16+1)); !errors.Is(err, errTooLarge) {
		t.Errorf("write: %v, want errTooLarge", err)
	}
	bomb, err := large.append(nil, frameItems, make([]byte, 1<<24))
	if err != nil || len(bomb) > 1<<16 {
		t.Fatalf("%d bytes, %v", len(bomb), err)
	}
	if _, _, _, err := f.read(bytes.NewReader(bomb)); !errors.Is(err, errTooLarge) {
		t.Errorf("read what is small until it is decompressed: %v, want errTooLarge", err)
	}
	_, _, _, err = f.read(bytes.NewReader([]byte{frameItems, 0, 0, 0, 2, 0}))
	if want := "too large for one frame: 131072 bytes, and 65536 are allowed"; !errors.Is(err, errTooLarge) || err.Error() != want {
		t.Errorf("read: %v, want %s", err, want)
	}
}

func TestALengthIsNotBelievedBeforeThereAreBytes(t *testing.T) {
	f := &frames{math.MaxInt32}
	lies := binary.LittleEndian.AppendUint32([]byte{frameItems, 0}, 1<<30)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, _, err := f.read(bytes.NewReader(lies)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want ErrUnexpectedEOF", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<22 {
		t.Errorf("%d bytes were allocated for %d", n, len(lies))
	}
}

func TestQuestionsAndItemsBeyondTheBoundAreRefused(t *testing.T) {
	answers := fake{nodes: func(_ context.Context, emit func(graph.Node) error) ([]graph.Gap, error) {
		return nil, emit(graph.Node{ID: graph.ID{1}, Facts: graph.Facts{Description: strings.Repeat("long ", 1000)}})
	}}
	h := newHandler(t, HandlerOptions{Reader: of(&answers), MaxFrame: 4000})
	address := listen(t, h, nil)
	ids := make([]graph.ID, 1000)
	var bad *graph.BadInputError
	for _, most := range []int{4000, 1 << 20} {
		_, err := open(t, newClient(t, ClientOptions{MaxFrame: most}, address)).Nodes(soon(t), ids, 0, nil)
		if !errors.As(err, &bad) || !strings.Contains(bad.What, "too large for one frame") {
			t.Errorf("a client's bound of %d: %v, want BadInputError", most, err)
		}
	}
	_, err := open(t, newClient(t, ClientOptions{}, address)).Nodes(soon(t), ids[:1], 0, nil)
	if want := "one item of the answer is too large for one frame: 5"; !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s…", err, want)
	}
	small := newClient(t, ClientOptions{MaxFrame: 1000}, listen(t, newHandler(t, HandlerOptions{Reader: of(&answers)}), nil))
	if _, err := open(t, small).Nodes(soon(t), ids[:1], 0, nil); !errors.Is(err, graph.ErrUnavailable) || !errors.Is(err, errTooLarge) {
		t.Errorf("%v, want ErrUnavailable and errTooLarge", err)
	}
}

// TestHostileQuestions sends bytes that no client does.
func TestHostileQuestions(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{})})
	f := &frames{1 << 20}
	q := question{region: "eu", fresh: true}
	var whole coder
	q.code(&whole)
	frame := func(kind byte, payload ...byte) []byte {
		b, err := f.append(nil, kind, payload)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	with := func(more ...byte) []byte {
		return frame(frameQuestion, append(whole.b[:len(whole.b):len(whole.b)], more...)...)
	}
	var layer, seed coder
	(&flowsQuestion{ask: graph.Ask{Layer: 9}}).code(&layer)
	codeLegQuestion(&seed, &graph.LegQuestion{Seeds: []graph.LegSeed{{Dir: graph.Both}}})
	for _, tc := range []struct {
		method string
		body   []byte
		want   string
	}{
		{methodNodes, nil, "read the question: EOF"},
		{methodNodes, []byte{1, 0, 9}, "read the question: unexpected EOF"},
		{methodNodes, frame(frameItems), "read the question: a frame of kind 3"},
		{methodNodes, frame(77), "read the question: a frame of kind 77.0: not a message of this format"},
		{methodNodes, frame(frameQuestion, 200), "read the question: not a message of this format"},
		{methodNodes, with(0xff, 0xff, 0xff, 0x7f), "read the question: not a message of this format"},
		{methodResolve, with(make([]byte, 25)...), "read the question: not a message of this format"},
		{methodFlows, with(layer.b...), "read the question: there is no layer 9 in direction 0"},
		{methodLeg, with(seed.b...), "read the question: a seed goes in one direction and not in 2"},
		{methodClose, with(), "read the question: not a message of this format"},
	} {
		r := httptest.NewRequest(http.MethodPost, Prefix+tc.method, bytes.NewReader(tc.body))
		r.Header.Set(headerFormat, formatName())
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var last fault
		for b := w.Body; b.Len() > 0; {
			kind, payload, _, err := f.read(b)
			if err != nil {
				t.Fatal(err)
			}
			if kind == frameFault {
				if err := decodeAll(payload, last.code); err != nil {
					t.Fatal(err)
				}
			}
		}
		if last.kind != faultBad || last.text != tc.want {
			t.Errorf("%s %x: %d %s, want %s", tc.method, tc.body, last.kind, last.text, tc.want)
		}
	}
}

// TestHostileAnswers: whatever a node answers is an error of the region.
func TestHostileAnswers(t *testing.T) {
	f := &frames{1 << 20}
	var answer []byte
	c := newClient(t, ClientOptions{}, listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(headerFormat, formatName())
		_, _ = w.Write(answer)
	}), nil))
	var begin, end coder
	(&head{region: "eu"}).code(&begin)
	(&ending{}).code(&end)
	joined := func(kinds ...any) (b []byte) {
		var err error
		for i := 0; i < len(kinds); i += 2 {
			if b, err = f.append(b, kinds[i].(byte), kinds[i+1].([]byte)); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	for _, tc := range []struct {
		name   string
		answer []byte
	}{
		{"nothing", nil},
		{"no head", joined(frameEnd, end.b)},
		{"two heads", joined(frameHead, begin.b, frameHead, begin.b, frameEnd, end.b)},
		{"a question", joined(frameQuestion, begin.b)},
		{"half an item", joined(frameHead, begin.b, frameItems, []byte{1, 2, 3}, frameEnd, end.b)},
		{"no item", joined(frameHead, begin.b, frameEnd, end.b)},
		{"two items", joined(frameHead, begin.b, frameItems, make([]byte, 24), frameItems, make([]byte, 24), frameEnd, end.b)},
		{"half an end", joined(frameHead, begin.b, frameItems, make([]byte, 24), frameEnd, end.b[:1])},
		{"an unknown fault", joined(frameFault, []byte{99, 0})},
		{"more after the end", append(joined(frameHead, begin.b, frameItems, make([]byte, 24), frameEnd, end.b), "more"...)},
	} {
		answer = tc.answer
		if _, err := open(t, c).Resolve(soon(t), graph.ID{}); !errors.Is(err, graph.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", tc.name, err)
		}
	}
}

func FuzzFrame(f *testing.F) {
	frames := &frames{1 << 20}
	for _, payload := range [][]byte{nil, []byte("few"), bytes.Repeat([]byte("many "), 1000)} {
		b, err := frames.append(nil, frameItems, payload)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, payload, n, err := frames.read(bytes.NewReader(b))
		if n > len(b) || len(payload) > 1<<20 {
			t.Fatalf("%d of %d bytes became %d", n, len(b), len(payload))
		}
		if err != nil {
			return
		}
		again, err := frames.append(nil, kind, payload)
		if err != nil {
			t.Fatal(err)
		}
		if k, p, _, err := frames.read(bytes.NewReader(again)); err != nil || k != kind || !bytes.Equal(p, payload) {
			t.Fatalf("%x came back as %x, %v", payload, p, err)
		}
	})
}
