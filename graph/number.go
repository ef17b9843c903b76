package graph

import (
	"context"
	"slices"
)

// A Handle is the number of a node within one view. Its top two bits are the
// class of the node, the others count from 0 within the class.
type Handle uint32

// The classes of nodes. A hub is the fan of a process (see ID.IsHub).
const (
	DataStoreClass = iota
	ColumnClass
	ProcessClass
	HubClass
	Classes // how many there are
)

const classShift = 30

// MaxHandles is how many nodes of one class can be numbered.
const MaxHandles = 1 << classShift

// MakeHandle returns the handle of a node by its class and its number there.
func MakeHandle(class int, index uint32) Handle { return Handle(class)<<classShift | Handle(index) }

// Class returns the class of the node.
func (h Handle) Class() int { return int(h >> classShift) }

// Index returns the number of the node within its class.
func (h Handle) Index() uint32 { return uint32(h) & (1<<classShift - 1) }

// ClassOf returns the class of the node that an id identifies.
func ClassOf(id ID) int {
	class := DataStoreClass
	if id.Kind() == ProcessKind {
		class = ProcessClass
	}
	if id.hasTail() {
		class++
	}
	return class
}

// Numbers are the current flows of a view whose nodes are numbered: what walks
// run over. They stand still as the view does, and may be read by many at
// once.
type Numbers interface {
	// Handle returns the number of the node that a name or column stands for;
	// false where no flow and no alias speaks of it.
	Handle(id ID) (Handle, bool)
	// ID returns the node of a number; IDs those of many, into ids, which is as
	// long.
	ID(h Handle) ID
	IDs(hs []Handle, ids []ID)
	// Base returns the data store of a column, and any other node itself.
	Base(h Handle) Handle
	// By returns the contribution of a number.
	By(by uint32) Key
	// Hops emits what View.Flows does, by number. Nothing is asked of a node
	// whose flows can't be in the layer. Of a node with very many flows, bound,
	// if not nil, asks for some alone.
	Hops(ctx context.Context, frontier []Handle, f *Ask, bound *Bound, emit Emit) ([]Gap, error)
}

// An Emit takes hops. The slices are its only until it returns.
type Emit struct {
	Hops func([]Hop) error
	// Ends, if not nil, may be called instead, with nodes and the numbers of
	// the other ends of their hops, of all together. They are the view's, and not
	// to be changed.
	Ends func(from []Handle, to []uint32) error
}

// A Hop is one direct edge as one contribution says it, between numbers. From
// is always the end in the frontier.
type Hop struct {
	From, To Handle
	By       uint32
	Kinds    Kinds
	Coarse   bool
}

// A Bound says that of the nodes that are reached from one node, by as many
// flows that a view would rather not read them all, only some are wanted:
// those that are known already, and of the others those from From on, by id,
// until Enough of them are not of From's data store or process. The view sets
// Met where it left something out.
type Bound struct {
	From   ID
	Enough int
	// Known lists the nodes that were reached before; IsKnown tells them.
	Known   []Handle
	IsKnown func(Handle) bool
	Met     bool
}

// numbered is a view that has numbers of its own.
type numbered interface{ Numbers() Numbers }

// numbersOf returns the numbers of a view, in which ids have one: the view's
// own where it has, or such as are given while it is walked. A column that no
// flow names has no number of the view's, and yet what flows through its data
// store.
func numbersOf(v View, ids ...ID) Numbers {
	n, ok := v.(numbered)
	if !ok || n.Numbers() == nil {
		return newNumbering(v)
	}
	own := n.Numbers()
	for _, id := range ids {
		if _, ok := own.Handle(id); !ok {
			return newNumbering(v)
		}
	}
	return own
}

// A Numbering numbers nodes and contributions as they are met. It is not safe
// for use by many at once.
type Numbering struct {
	at     map[ID]Handle
	ids    [Classes][]ID
	bases  []Handle // of columns
	keys   map[sayer]uint32
	listed []sayer
}

// A sayer is a contribution, and the global table that it speaks of.
type sayer struct {
	Key
	via ID
}

// NewNumbering returns a Numbering without numbers, and with room for so many
// nodes.
func NewNumbering(room int) *Numbering {
	return &Numbering{at: make(map[ID]Handle, room), keys: map[sayer]uint32{}}
}

// Handle implements Numbers: there is a number for each id, from then on.
func (n *Numbering) Handle(id ID) (Handle, bool) { return n.handle(id), true }

func (n *Numbering) handle(id ID) Handle {
	if h, ok := n.at[id]; ok {
		return h
	}
	class := ClassOf(id)
	if class == ColumnClass {
		n.bases = append(n.bases, n.handle(id.Base()))
	}
	h := MakeHandle(class, uint32(len(n.ids[class])))
	n.ids[class] = append(n.ids[class], id)
	n.at[id] = h
	return h
}

// ID implements Numbers.
func (n *Numbering) ID(h Handle) ID { return n.ids[h.Class()][h.Index()] }

// IDs implements Numbers.
func (n *Numbering) IDs(hs []Handle, ids []ID) {
	for i, h := range hs {
		ids[i] = n.ids[h.Class()][h.Index()]
	}
}

// Base implements Numbers.
func (n *Numbering) Base(h Handle) Handle {
	if h.Class() == ColumnClass {
		return n.bases[h.Index()]
	}
	return h
}

// By implements Numbers.
func (n *Numbering) By(by uint32) Key { return n.listed[by].Key }

// Via returns the global table of Flow.Via, with which a contribution was
// numbered.
func (n *Numbering) Via(by uint32) ID { return n.listed[by].via }

// Number returns the number of a contribution that speaks of via, or of no
// global table where that is zero.
func (n *Numbering) Number(by Key, via ID) uint32 {
	k := sayer{by, via}
	i, ok := n.keys[k]
	if !ok {
		i = uint32(len(n.listed))
		n.listed = append(n.listed, k)
		n.keys[k] = i
	}
	return i
}

// A numbering numbers the nodes of a view that has no numbers of its own. It is
// one walk's own.
type numbering struct {
	*Numbering
	view View
}

func newNumbering(v View) *numbering { return &numbering{NewNumbering(0), v} }

func (n *numbering) Hops(ctx context.Context, frontier []Handle, f *Ask, _ *Bound, emit Emit) ([]Gap, error) {
	ids := make([]ID, len(frontier))
	for i, h := range frontier {
		ids[i] = n.ID(h)
	}
	slices.SortFunc(ids, ID.Compare)
	var hops []Hop
	return n.view.Flows(ctx, ids, *f, func(flows []Flow) error {
		hops = hops[:0]
		for i := range flows {
			f := &flows[i]
			hops = append(hops, Hop{From: n.handle(f.From), To: n.handle(f.To), By: n.Number(f.By, f.Via), Kinds: f.Kinds, Coarse: f.Coarse})
		}
		return emit.Hops(hops)
	})
}
