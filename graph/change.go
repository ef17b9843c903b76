package graph

import "slices"

// A Planned is what one delta does. Without a Change it only touches: the
// record and what was seen are refreshed, the revision stands still.
type Planned struct {
	Change *Change
	Touch  Touch
}

// A Touch is what a delta refreshes.
type Touch struct {
	Key Key
	// Record replaces the stored one; nil leaves it.
	Record *Record
	// Time is that of the delta, for Seen: the newest wins.
	Time int64
	Seen []Seen
}

// A Change is the difference that a delta makes to the read model, free of
// how engines store it. Applying it twice is applying it once.
type Change struct {
	Key       Key
	PutParts  map[uint64][]byte
	DropParts []uint64
	Flows     []FlowEdit
	Pieces    []PieceEdit
	Named     []NamedEdit
	Aliases   []AliasEdit
	Index     []IndexEdit
	Lives     []LifeEdit
	// History: what holds when has changed, or whether it is provisional.
	History bool
	// Names are the names that the contribution has come to speak of, folded.
	// Of two that share an id (columns in another case) stores keep the one
	// that sorts first. NameIDs are their ids.
	Names   []Name
	NameIDs []ID
}

// The edits of a change. Without Targets, Facts or Put the row goes.
type (
	// A FlowEdit replaces the targets of a row: Was by Targets, both sorted.
	FlowEdit struct {
		Row          Row
		Targets, Was []Target
	}
	// A PieceEdit replaces what the contribution says of a node. From is when
	// it began to say so; Was and WasFrom are what it replaces, nil: nothing.
	PieceEdit struct {
		Node          ID
		Rank          uint8
		Facts, Was    *Facts
		From, WasFrom int64
	}
	// A NamedEdit adds or removes a column that a flow names.
	NamedEdit struct {
		NamedRow
		Put bool
	}
	// An AliasEdit adds or removes what the contribution says of an alias.
	AliasEdit struct {
		From, To ID
		Put      bool
	}
	// An IndexEdit says that the contribution speaks, or spoke, of a node; the
	// readers of history find it so. With Writes it says that the contribution
	// wrote or dropped it, beside that. What is there already may be put again.
	IndexEdit struct {
		Node   ID
		Writes bool
		Put    bool
	}
	// A LifeEdit replaces the life of a data store.
	LifeEdit struct {
		Node ID
		Life Life
	}
)

// Nodes lists the nodes whose answers the change may alter, sorted: the base
// of each, not its columns.
func (c *Change) Nodes() []ID {
	ids := make([]ID, 0, 1+len(c.Flows)+len(c.Pieces)+2*len(c.Aliases)+len(c.Lives))
	ids = append(ids, c.Key.Subject)
	for i := range c.Flows {
		// The rows of a data store's columns follow each other.
		if id := c.Flows[i].Row.Node.Base(); id != ids[len(ids)-1] {
			ids = append(ids, id)
		}
	}
	for i := range c.Pieces {
		ids = append(ids, c.Pieces[i].Node)
	}
	for i := range c.Aliases {
		ids = append(ids, c.Aliases[i].From, c.Aliases[i].To)
	}
	for i := range c.Lives {
		ids = append(ids, c.Lives[i].Node)
	}
	slices.SortFunc(ids, ID.Compare)
	return slices.Compact(ids)
}

// Visible reports whether readers can see the change. Parts alone are not
// seen: those of an open run wait for its end. What is not visible does not
// move the revision.
func (c *Change) Visible() bool {
	return c.History || len(c.Flows)+len(c.Pieces)+len(c.Named)+len(c.Aliases)+len(c.Index)+len(c.Lives)+len(c.Names) > 0
}
