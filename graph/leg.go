package graph

import (
	"context"
	"slices"
)

// A LegQuestion asks a region for its leg of a walk: what the walk reaches
// there from where it begins or enters, hop by hop, as the walker of the whole
// would. The flows of deleted nodes are among it: whether they count is for
// the asker to say, who knows whose word that is.
type LegQuestion struct {
	// Root, if set, is what the whole walk is asked of; it begins there as
	// GetLineage does.
	Root ID
	// Seeds are where the walk enters the region.
	Seeds       []LegSeed
	Direction   Direction // of Root
	Granularity Granularity
	Depth       int
	Kinds       Kinds // 0: all but Control
	Origins     []string
	// Lists are lists of flows that are wanted besides, whatever walks find.
	Lists []LegAsk
	// Enough is how many nodes are wanted: the level at which so many have been
	// reached is the last. 0 is no bound.
	Enough int
	// Details: what is known of the nodes that were reached is wanted, too, with
	// Want; so is it of the root and of seeds beyond Depth.
	Details bool
	Want    Want
}

// A LegSeed is a name or node of the region that the walk reaches from
// elsewhere, at a distance from the root, in one direction.
type LegSeed struct {
	ID       ID
	Distance int
	Dir      Direction // Downstream or Upstream
}

// A LegAsk asks for the flows of one name or node.
type LegAsk struct {
	ID                ID
	Layer             Layer
	Dir               Direction // Downstream or Upstream
	Whole, CoarseOnly bool
}

// A Leg is what a region's part of a walk found: the lists of flows that were
// read. Who has them all can walk without asking.
type Leg struct {
	// IDs are the nodes that the lists speak of; elsewhere they are given by
	// their place here.
	IDs []ID
	// Keys are the contributions that hops are said by, by number.
	Keys  []Key
	Lists []LegList
	// Stands are the nodes here that Root, if set, each seed and what each of
	// the question's lists is asked of stand for.
	Stands []ID
	// Standing tells of the nodes that are deleted or have other names; all
	// others among IDs have neither.
	Standing []Standing
	// Absent are of those the ones that have no flows here.
	Absent []ID
	// Nodes are the details: first those of Stands, then those of Coming, which
	// has places in IDs.
	Nodes  []Node
	Coming []uint32
	// Late: ctx ended first; what there is is right.
	Late bool
	Gaps []Gap
}

// A LegList is the flows of one node.
type LegList struct {
	Node  uint32
	Layer Layer
	Dir   Direction
	// Whole: those of its columns, or of its fans, are among them. CoarseOnly:
	// those that are known by column are not.
	Whole, CoarseOnly bool
	Hops              []LegHop
}

// A LegHop is a Hop whose ends are places in Leg.IDs and whose contribution
// is a place in Leg.Keys.
type LegHop struct {
	From, To, By uint32
	Kinds        Kinds
	Coarse       bool
}

// A Standing says what names a node has.
type Standing struct {
	Node ID
	// Names are all names that stand for it, itself among them, sorted; nil:
	// itself alone.
	Names []ID
	Gone  bool
}

// A LegView is a view that walks legs.
type LegView interface {
	View
	// Leg returns a leg, and gives it to a taker before that as it comes.
	Leg(ctx context.Context, q LegQuestion, to LegTaker) (*Leg, error)
}

// A LegTaker takes a leg as it comes. Who takes nothing has no function.
type LegTaker struct {
	// Found is given the leg, once, as soon as it has all but the details of
	// Coming. That stays as it is, but for Nodes, Late and Gaps, which may grow.
	Found func(*Leg) error
	// Node is given the details of Coming, one by one, after that; they are not
	// added to Nodes then. What it points to is its own only until it returns.
	Node func(*Node) error
}

// standingOf returns the standing of a data store.
func standingOf(ctx context.Context, v View, node ID) (Standing, error) {
	s := Standing{Node: node}
	if own, ok := v.(*view); ok {
		names, err := own.names(node)
		if err != nil {
			return s, err
		}
		_, live, err := own.live(node, false)
		s.Names, s.Gone = names, !live
		return s, err
	}
	_, err := v.Nodes(ctx, []ID{node}, 0, func(n Node) error {
		s.Gone = n.Deleted != 0
		s.Names = append(s.Names, n.ID)
		for _, a := range n.Aliases {
			s.Names = append(s.Names, a.ID())
		}
		slices.SortFunc(s.Names, ID.Compare)
		return nil
	})
	return s, err
}
