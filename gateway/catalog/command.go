package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Command is one decision, by whom and when. Clock and ids arrive in it, so
// that every replica makes the same of it.
type Command struct {
	// ID makes the command be taken once, however often it arrives. Change
	// gives it one where it is empty.
	ID string
	// Seen is State.Seq when the command was first made. A state remembers the
	// last 4096 commands that it took and refuses one from before them that it
	// does not know: it can't tell whether it has been made. A retry must
	// carry the Seen of the first try.
	Seen uint64
	// Who decided; At is when, in nanoseconds since 1970, UTC.
	Who string
	At  int64
	Do  Change
}

// A Change is what a command does: one of the types in this package that
// changesByKind lists.
type Change interface {
	// kind is its name on the wire and in the audit trail.
	kind() string
	// apply makes the change or says why not. It reads nothing but its
	// receiver and the state.
	apply(e *edit) error
}

// changesByKind decodes each kind of change. A new kind must be known to all
// gateways before one sends it: release it twice (DESIGN.md).
var changesByKind = map[string]func(json.RawMessage) (Change, error){
	SetRegion{}.kind():           decode[SetRegion],
	RemoveRegion{}.kind():        decode[RemoveRegion],
	SetGateway{}.kind():          decode[SetGateway],
	RemoveGateway{}.kind():       decode[RemoveGateway],
	SetNamespaceRule{}.kind():    decode[SetNamespaceRule],
	RemoveNamespaceRule{}.kind(): decode[RemoveNamespaceRule],
	SetAlias{}.kind():            decode[SetAlias],
	RemoveAlias{}.kind():         decode[RemoveAlias],
	SetNamingRule{}.kind():       decode[SetNamingRule],
	RemoveNamingRule{}.kind():    decode[RemoveNamingRule],
	DeclareTable{}.kind():        decode[DeclareTable],
	DeclareMembers{}.kind():      decode[DeclareMembers],
	RemoveTable{}.kind():         decode[RemoveTable],
	FeedMembers{}.kind():         decode[FeedMembers],
	SetFilter{}.kind():           decode[SetFilter],
	RemoveFilter{}.kind():        decode[RemoveFilter],
	SetNotice{}.kind():           decode[SetNotice],
	RemoveNotice{}.kind():        decode[RemoveNotice],
	BeginGeneration{}.kind():     decode[BeginGeneration],
}

// codecVersion is the first byte of an encoded command.
const codecVersion = 1

// MaxCommand bounds an encoded command, in bytes.
const MaxCommand = 8 << 20

// wireCommand is a command's JSON, which follows the version byte.
type wireCommand struct {
	ID   string          `json:"id"`
	Seen uint64          `json:"seen"`
	Who  string          `json:"who"`
	At   int64           `json:"at"`
	Do   string          `json:"do"`
	With json.RawMessage `json:"with"`
}

// Encode writes a command for the log.
func (c Command) Encode() ([]byte, error) {
	if c.Do == nil {
		return nil, refused("the command does nothing")
	}
	with, err := json.Marshal(c.Do)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.Do.kind(), err)
	}
	b, err := json.Marshal(wireCommand{c.ID, c.Seen, c.Who, c.At, c.Do.kind(), with})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.Do.kind(), err)
	}
	if len(b) >= MaxCommand {
		return nil, refused("%s takes %d bytes; at most %d are taken", c.Do.kind(), len(b), MaxCommand)
	}
	return append([]byte{codecVersion}, b...), nil
}

// DecodeCommand reads what Encode wrote. What it does not know is refused,
// fields too: to leave one out would let replicas drift apart.
func DecodeCommand(b []byte) (Command, error) {
	switch {
	case len(b) == 0:
		return Command{}, refused("the command is empty")
	case len(b) > MaxCommand:
		return Command{}, refused("the command takes %d bytes; at most %d are taken", len(b), MaxCommand)
	case b[0] != codecVersion:
		return Command{}, refused("the command has format %d; this build knows %d", b[0], codecVersion)
	}
	w, err := decodeStrictly[wireCommand](b[1:])
	if err != nil {
		return Command{}, refused("the command can't be read: %v", err)
	}
	c := Command{ID: w.ID, Seen: w.Seen, Who: w.Who, At: w.At}
	change, ok := changesByKind[w.Do]
	if !ok {
		return c, refused("this build knows no command %.40q", w.Do)
	}
	if c.Do, err = change(w.With); err != nil {
		return c, refused("%s can't be read: %v", w.Do, err)
	}
	return c, nil
}

func decode[T Change](raw json.RawMessage) (Change, error) { return decodeStrictly[T](raw) }

func decodeStrictly[T any](raw []byte) (T, error) {
	var v T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("something follows it")
	}
	return v, nil
}
