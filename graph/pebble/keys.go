package pebble

import (
	"bytes"
	"encoding/binary"
	"strings"

	"headwater/graph"
)

// The key spaces. Each begins with its byte; ids are 24 bytes, numbers are
// big-endian, so that keys sort as the ids and numbers do.
//
//	M name                                    meta: format, region, mark
//	c subject origin                        → record
//	b subject origin 00 hash                → content of a part
//	f layer dir node subject origin         → targets
//	p name rank facts-hash ^from subject origin → facts
//	n id                                    → name; of columns, by their path alone
//	k column display 00 subject origin
//	a from to subject origin                  aliases; A is their reverse
//	x name subject origin                     speaks, or spoke, of the name; W: wrote it
//	l name                                  → life
//	s name facet                            → time, JSON
//	g name partition                        → created
//	w text 00 id                              search: whole texts
//	t suffix 00 id                          → the text before the suffix
//	v end-of-word 00 start-of-word            search: the words there are, from inside
//	o column-hash column                      search: columns by their path
//	z revision                              → which nodes it touched
//	y sequence                              → entry of the region's change stream
//
// What is under n, c, e and h where large rows are elsewhere: elsewhere.go.
const (
	spaceMeta         = 'M'
	spaceRecord       = 'c'
	spacePart         = 'b'
	spaceFlow         = 'f'
	spacePiece        = 'p'
	spaceName         = 'n'
	spaceNamed        = 'k'
	spaceAlias        = 'a'
	spaceAliasReverse = 'A'
	spaceIndex        = 'x'
	spaceWriters      = 'W'
	spaceLife         = 'l'
	spaceSeen         = 's'
	spacePartition    = 'g'
	spaceText         = 'w'
	spaceSuffix       = 't'
	spaceWord         = 'v'
	spaceColumn       = 'o'
	spaceChange       = 'z'
	spaceStream       = 'y'
	spaceOwner        = 'e'
	spaceNote         = 'h'
)

const idLen = len(graph.ID{})

// A key is built by appending.
type key []byte

func space(b byte) key { return append(make(key, 0, 96), b) }

func (k key) id(id graph.ID) key { return append(k, id[:]...) }

func (k key) by(by graph.Key) key { return append(k.id(by.Subject), by.Origin...) }

func (k key) byte(b byte) key { return append(k, b) }

func (k key) u64(v uint64) key { return binary.BigEndian.AppendUint64(k, v) }

// text appends text and the 0 that ends it. No name holds a 0 (graph.Name
// checks it); one that did would lose it here, not break the order of keys.
func (k key) text(s string) key {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return append(append(k, s...), 0)
}

// base appends what the ids of a data store and its columns begin with.
func (k key) base(id graph.ID) key { return append(k, id[:16]...) }

func recordKey(k graph.Key) key { return space(spaceRecord).by(k) }

func partPrefix(k graph.Key) key { return space(spacePart).id(k.Subject).text(k.Origin) }

func flowPrefix(layer graph.Layer, dir graph.Direction) key {
	return space(spaceFlow).byte(byte(layer)).byte(byte(dir))
}

// renamed stands for the contribution of the reverse alias that a rename
// leaves.
var renamed = graph.Key{Origin: "rename"}

func cutID(b []byte) (graph.ID, []byte) {
	var id graph.ID
	n := copy(id[:], b)
	return id, b[n:]
}

func cutBy(b []byte) graph.Key {
	subject, origin := cutID(b)
	return graph.Key{Subject: subject, Origin: string(origin)}
}

func cutText(b []byte) (string, []byte) {
	text, rest, _ := bytes.Cut(b, []byte{0})
	return string(text), rest
}

// after returns the first key behind all that begin with prefix, or nil.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
