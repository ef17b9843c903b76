package rpc

import (
	"time"

	"headwater/graph"
)

// A leaseID names a view at the region. The client draws it, so that it can
// close a view whose first answer never came.
type leaseID [16]byte

// A question is what comes before the arguments of each method.
type question struct {
	region string // that is meant
	lease  leaseID
	// fresh: no answer has come under this lease, so it may be opened.
	fresh bool
	at    graph.At
}

func codeLeaseID(c *coder, l *leaseID) {
	if c.decode {
		copy(l[:], c.take(uint64(len(l))))
	} else {
		c.b = append(c.b, l[:]...)
	}
}

func (q *question) code(c *coder) {
	c.string(&q.region)
	codeLeaseID(c, &q.lease)
	if c.bool(&q.fresh); !q.fresh {
		return
	}
	dict(c, &q.at.AtLeast, (*coder).uint)
	has := !q.at.AsOf.IsZero()
	if c.bool(&has); !has {
		return
	}
	nanos := q.at.AsOf.UnixNano()
	if number(c, &nanos); c.decode {
		q.at.AsOf = time.Unix(0, nanos).UTC()
	}
}

// A head begins an answer: which region and state it is of.
type head struct {
	region string
	// opening tells two views apart that were opened under one lease.
	opening uint64
	marks   map[string]graph.Mark
}

func (h *head) code(c *coder) {
	c.string(&h.region)
	c.uint(&h.opening)
	codeMarks(c, &h.marks)
}

func codeMarks(c *coder, marks *map[string]graph.Mark) {
	dict(c, marks, func(c *coder, m *graph.Mark) {
		c.uint(&m.Position)
		c.uint(&m.Revision)
	})
}

// An ending is the end of an answer that is whole.
type ending struct {
	gaps []graph.Gap
	late bool // of a leg
}

func (e *ending) code(c *coder) {
	slice(c, &e.gaps, 2, codeGap)
	c.bool(&e.late)
}

func (s *Status) code(c *coder) {
	c.string(&s.Region)
	c.string(&s.Epoch)
	codeMarks(c, &s.Marks)
	number(c, &s.Lag)
	c.bool(&s.Healthy)
	c.string(&s.Trouble)
}

// A nodesQuestion is the arguments of Nodes, and of Says, which has no want.
type nodesQuestion struct {
	ids  []graph.ID
	want graph.Want
}

func (q *nodesQuestion) code(c *coder) {
	slice(c, &q.ids, idSize, codeID)
	small(c, &q.want)
}

type flowsQuestion struct {
	frontier []graph.ID
	ask      graph.Ask
}

func (q *flowsQuestion) code(c *coder) {
	slice(c, &q.frontier, idSize, codeID)
	small(c, &q.ask.Layer)
	small(c, &q.ask.Dir)
	c.bool(&q.ask.Whole)
	c.bool(&q.ask.CoarseOnly)
	small(c, &q.ask.Kinds)
	slice(c, &q.ask.Origins, 1, (*coder).string)
	c.bool(&q.ask.ThroughDeleted)
	number(c, &q.ask.Level)
}

type conflictsQuestion struct {
	after graph.ID
	limit int
}

func (q *conflictsQuestion) code(c *coder) {
	c.id(&q.after)
	number(c, &q.limit)
}

func codeQuery(c *coder, q *graph.Query) {
	c.string(&q.Text)
	c.bool(&q.DataStores)
	c.bool(&q.Columns)
	c.bool(&q.Processes)
	c.string(&q.Namespace)
	c.string(&q.Tag)
	number(c, &q.Limit)
	c.string(&q.After)
}

func codeLegQuestion(c *coder, q *graph.LegQuestion) {
	c.id(&q.Root)
	slice(c, &q.Seeds, idSize+2, func(c *coder, s *graph.LegSeed) {
		c.id(&s.ID)
		number(c, &s.Distance)
		small(c, &s.Dir)
	})
	small(c, &q.Direction)
	small(c, &q.Granularity)
	number(c, &q.Depth)
	small(c, &q.Kinds)
	slice(c, &q.Origins, 1, (*coder).string)
	slice(c, &q.Lists, idSize+4, func(c *coder, l *graph.LegAsk) {
		c.id(&l.ID)
		small(c, &l.Layer)
		small(c, &l.Dir)
		c.bool(&l.Whole)
		c.bool(&l.CoarseOnly)
	})
	number(c, &q.Enough)
	c.bool(&q.Details)
	small(c, &q.Want)
}

func codePage(c *coder, p *graph.Page) {
	slice(c, &p.IDs, idSize, codeID)
	c.string(&p.Next)
	slice(c, &p.Gaps, 2, codeGap)
}

func codeGap(c *coder, g *graph.Gap) {
	c.string(&g.Region)
	c.string(&g.Reason)
}

// nameSize is the least that a name takes.
const nameSize = 5

func codeName(c *coder, n *graph.Name) {
	small(c, &n.Kind)
	c.shared(&n.Region)
	c.shared(&n.Namespace)
	c.shared(&n.Name)
	c.string(&n.Column)
}

func codeConflict(c *coder, v *graph.Conflict) {
	codeName(c, &v.Name)
	slice(c, &v.Targets, nameSize, codeName)
}

// codeFacts codes facts as graph does, or, where they are no more than what
// graph.WantBrief asks for, those alone.
func codeFacts(c *coder, f *graph.Facts) {
	brief := len(f.Description)+len(f.Owners)+len(f.Tags)+len(f.Columns)+len(f.Deleted) == 0
	if c.bool(&brief); !brief {
		value(c, f, graph.AppendFacts, graph.DecodeFacts)
		return
	}
	c.shared(&f.Kind)
	c.shared(&f.Platform)
	c.string(&f.URL)
	c.string(&f.Display)
}

// What there is of a node; most have little.
const (
	nodeName uint64 = 1 << iota // else it has the name before, but for the column
	nodeFacts
	nodeAliases
	nodeColumn
	nodePath // of the column, which is another than its name's
	nodeSeen
	nodePartitions
	nodeDeleted
)

// codeNode codes a node, but for its id; before is the name of the node before
// it.
func codeNode(c *coder, n *graph.Node, before *graph.Name) {
	var has uint64
	if f := &n.Facts; !c.decode {
		for _, is := range [...]struct {
			so   bool
			what uint64
		}{
			{n.Name.Of("") != before.Of(""), nodeName},
			{len(f.Kind)+len(f.Platform)+len(f.URL)+len(f.Display)+len(f.Description)+len(f.Owners)+len(f.Tags)+len(f.Columns)+len(f.Deleted) > 0, nodeFacts},
			{len(n.Aliases) > 0, nodeAliases},
			{n.Column != nil, nodeColumn},
			{n.Column != nil && n.Column.Path != n.Name.Column, nodePath},
			{n.Seen != nil, nodeSeen},
			{len(n.Partitions) > 0, nodePartitions},
			{n.Deleted != 0, nodeDeleted},
		} {
			if is.so {
				has |= is.what
			}
		}
	}
	if c.uint(&has); has >= nodeDeleted<<1 {
		c.fail()
	}
	if has&nodeName != 0 {
		codeName(c, &n.Name)
	} else {
		column := n.Name.Column
		c.string(&column)
		n.Name = before.Of(column)
	}
	*before = n.Name
	if has&nodeFacts != 0 {
		codeFacts(c, &n.Facts)
	}
	if has&nodeAliases != 0 {
		slice(c, &n.Aliases, nameSize, codeName)
	}
	if has&nodeColumn != 0 {
		if c.decode {
			n.Column = c.field()
			n.Column.Path = n.Name.Column
		}
		if has&nodePath != 0 {
			c.string(&n.Column.Path)
		}
		c.shared(&n.Column.Type)
		c.string(&n.Column.Description)
		number(c, &n.Column.Ordinal)
	}
	if has&nodeSeen != 0 {
		dict(c, &n.Seen, (*coder).bytes)
	}
	if has&nodePartitions != 0 {
		slice(c, &n.Partitions, 2, func(c *coder, p *graph.Partition) {
			c.string(&p.Name)
			number(c, &p.Created)
		})
	}
	number(c, &n.Updated)
	if has&nodeDeleted != 0 {
		number(c, &n.Deleted)
	}
}

// codeWhole codes a node by itself.
func codeWhole(c *coder, n *graph.Node) {
	c.id(&n.ID)
	codeNode(c, n, &graph.Name{})
}

func codeFlow(c *coder, f *graph.Flow) {
	c.id(&f.From)
	c.id(&f.To)
	small(c, &f.Kinds)
	c.bool(&f.Coarse)
	c.id(&f.By.Subject)
	c.string(&f.By.Origin)
	c.id(&f.Via)
}

// flowSize is the least that a flow takes.
const flowSize = 4*idSize + 3

func codeFlows(c *coder, flows *[]graph.Flow) { slice(c, flows, flowSize, codeFlow) }

func codeSaid(c *coder, s *graph.Said) {
	value(c, &s.Record, graph.AppendRecord, graph.DecodeRecord)
	holds := s.Content != nil
	if c.bool(&holds); holds {
		if c.decode {
			s.Content = &graph.Content{}
		}
		value(c, s.Content, graph.AppendContent, graph.DecodeContent)
	}
	c.bool(&s.Provisional)
	number(c, &s.From)
}
