package openlineage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"headwater/ingest"
)

// maxDepth is how deep objects and arrays may be nested.
const maxDepth = 1000

// path is the JSON path of the value that was read last. It is not told once
// too many faults were.
func (r *reader) path() string {
	if r.mute {
		return "$"
	}
	return pathOf(r.d, r.d.StackPointer())
}

// pathOf writes a pointer into what d reads as a JSON path. d tells members
// from elements. Long paths and names are cut: they are for people to read.
func pathOf(d *jsontext.Decoder, p jsontext.Pointer) string {
	const maxSteps, maxStep = 16, 80
	b := []byte("$")
	level := 0
	for step := range p.Tokens() {
		level++
		if level > maxSteps {
			return string(append(b, " …"...))
		}
		kind := jsontext.Kind('{')
		if level <= d.StackDepth() {
			kind, _ = d.StackIndex(level)
		}
		if len(step) > maxStep {
			step = strings.ToValidUTF8(step[:maxStep], "") + "…"
		}
		switch {
		case kind == '[':
			b = append(append(append(b, '['), step...), ']')
		case isWord(step):
			b = append(append(b, '.'), step...)
		default:
			b = append(strconv.AppendQuote(append(b, '['), step), ']')
		}
	}
	return string(b)
}

func isWord(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// notJSON says where and why body is not one JSON value. It reads once more,
// token by token, to know the path.
func notJSON(body []byte) ingest.Rejected {
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return ingest.Rejected{Path: "$", Reason: "starts with a byte order mark; send UTF-8 without one"}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	for {
		_, err := d.ReadToken()
		var bad *jsontext.SyntacticError
		switch {
		case err == nil:
			if d.StackDepth() == 0 && d.PeekKind() != jsontext.KindInvalid {
				return ingest.Rejected{Path: "$", Offset: d.InputOffset(), Reason: "more follows after the event; send one event"}
			}
			continue
		case errors.As(err, &bad):
			reason := "is not JSON: " + bad.Err.Error()
			if errors.Is(err, io.ErrUnexpectedEOF) {
				reason = "is not JSON: the message ends within a value; was it cut off?"
			}
			return ingest.Rejected{Path: pathOf(d, bad.JSONPointer), Offset: bad.ByteOffset, Reason: reason}
		case errors.Is(err, io.EOF) && d.InputOffset() == 0:
			return ingest.Rejected{Path: "$", Reason: "the message is empty"}
		default:
			return ingest.Rejected{Path: "$", Offset: d.InputOffset(), Reason: "is not JSON: " + err.Error()}
		}
	}
}

// tooDeep says where body is nested deeper than maxDepth. Few messages have
// so many brackets that it has to look.
func tooDeep(body []byte) (ingest.Rejected, bool) {
	if bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) <= maxDepth {
		return ingest.Rejected{}, false
	}
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return ingest.Rejected{Path: deepPath(body), Offset: int64(i),
					Reason: fmt.Sprintf("is nested deeper than %d levels", maxDepth)}, true
			}
		case '}', ']':
			depth--
		}
	}
	return ingest.Rejected{}, false
}

// deepPath is the path of the first value that is nested deeper than maxDepth.
func deepPath(body []byte) string {
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	for d.StackDepth() < maxDepth {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return pathOf(d, d.StackPointer())
}

// The parts of an event. What is wrong with one is forgotten when the event
// says it again.
type part uint8

const (
	inEnvelope part = iota
	inRun
	inJob
	inDataset
	inInputs
	inOutputs
)

// A faults collects what cannot be taken of an event.
type faults struct {
	list    []badPart
	fatal   [inOutputs + 1]bool
	further int
}

type badPart struct {
	part  part
	fatal bool
	ingest.Rejected
}

// maxFaults is how many faults of an event are told one by one.
const maxFaults = 100

// reject notes what is wrong with a part of the event.
func (e *event) reject(p part, fatal bool, f *fault) {
	l := &e.faults
	l.fatal[p] = l.fatal[p] || fatal
	if len(l.list) < maxFaults {
		l.list = append(l.list, badPart{p, fatal, ingest.Rejected{Path: f.path, Offset: f.offset, Reason: f.reason}})
	} else {
		l.further++
	}
	e.r.mute = len(l.list) >= maxFaults
}

// forget forgets what is wrong with a part that the event says again.
func (e *event) forget(p part) {
	l := &e.faults
	l.fatal[p] = false
	l.list = slices.DeleteFunc(l.list, func(f badPart) bool { return f.part == p })
	e.r.mute = false
}

// rejected lists the faults, fatal ones first; matters says which parts the
// event cannot do without. fatal reports whether there is a fatal one.
func (l *faults) rejected(matters func(part) bool) (list []ingest.Rejected, fatal bool) {
	for p := range l.fatal {
		fatal = fatal || l.fatal[p] && matters(part(p))
	}
	for _, wanted := range []bool{true, false} {
		for _, f := range l.list {
			if (f.fatal && matters(f.part)) == wanted {
				list = append(list, f.Rejected)
			}
		}
	}
	if l.further > 0 {
		list = append(list, ingest.Rejected{Path: "$", Reason: fmt.Sprintf("has %d more faults, not listed", l.further)})
	}
	return list, fatal
}
