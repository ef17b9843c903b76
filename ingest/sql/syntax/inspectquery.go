package syntax

func inspectSet(n SetExpr, f func(Node) bool) {
	switch x := n.(type) {
	case *Query:
		if x == nil || !f(x) {
			return
		}
		inspectPart(x.With, f)
		if x.Body != nil {
			inspectSet(x.Body, f)
		}
		inspectTail(x, f)
		for i := range x.Pipes {
			inspectPipe(&x.Pipes[i], f)
		}
	case *Select:
		if x != nil && f(x) {
			inspectSelect(x, f)
		}
	case *SetOp:
		if f(x) {
			if x.Left != nil {
				inspectSet(x.Left, f)
			}
			if x.Right != nil {
				inspectSet(x.Right, f)
			}
		}
	case *Values:
		if f(x) {
			for _, row := range x.Rows {
				exprs(row, f)
			}
		}
	case *TableQuery:
		if f(x) && x.Table != nil {
			inspectRef(x.Table, f)
		}
	}
}

// inspectTail visits ORDER BY and the limits, which may come in any order.
func inspectTail(x *Query, f func(Node) bool) {
	var l lanes
	if len(x.Order) > 0 {
		l.add(x.Order[0].Start, laneOrder)
	}
	if x.Limit != nil {
		l.add(x.Limit.Range().Start, laneLimit)
	}
	if x.Offset != nil {
		l.add(x.Offset.Range().Start, laneOffset)
	}
	if len(x.LimitBy) > 0 {
		l.add(x.LimitBy[0].Range().Start, laneLimitBy)
	}
	for i := range l.sorted() {
		switch l.all[i].kind {
		case laneOrder:
			orders(x.Order, f)
		case laneLimit:
			expr(x.Limit, f)
		case laneOffset:
			expr(x.Offset, f)
		case laneLimitBy:
			exprs(x.LimitBy, f)
		}
	}
}

// A lane is a group of children that stand together in the text.
type lane int

const (
	laneOrder lane = iota
	laneLimit
	laneOffset
	laneLimitBy
	laneItems
	laneInto
	laneTransform
	laneFrom
	lanePreWhere
	laneWhere
	laneStart
	laneConnect
	laneModel
	laneGroup
	laneHaving
	laneWindows
	laneQualify
	laneCluster
	laneSort
	laneColumns
	lanePartition
	laneOptions
	laneLike
	laneParent
	laneQuery
	laneTo
	laneDistinct
	laneValues
	laneNames
	laneIn
	laneTarget
	laneSet
	laneUpdate
	laneReturning
	laneWhen
	laneDirectory
	laneTemporal
	laneSample
	laneAlias
)

// lanes puts the groups of a node's children into the order of the text.
type lanes struct {
	all [24]struct {
		start int32
		kind  lane
	}
	n int
}

func (l *lanes) add(start int32, kind lane) {
	i := l.n
	for i > 0 && l.all[i-1].start > start {
		l.all[i] = l.all[i-1]
		i--
	}
	l.all[i].start, l.all[i].kind = start, kind
	l.n++
}

func (l *lanes) expr(x Expr, kind lane) {
	if x != nil {
		l.add(x.Range().Start, kind)
	}
}

func (l *lanes) sorted() int { return l.n }

func inspectSelect(x *Select, f func(Node) bool) {
	var l lanes
	if len(x.DistinctOn) > 0 {
		l.expr(x.DistinctOn[0], laneDistinct)
	}
	l.expr(x.Top, laneLimit)
	if len(x.Items) > 0 {
		l.add(x.Items[0].Start, laneItems)
	}
	if x.Into != nil {
		l.add(x.Into.Start, laneInto)
	}
	if x.Transform != nil {
		l.add(x.Transform.Start, laneTransform)
	}
	if len(x.From) > 0 {
		l.add(x.From[0].Range().Start, laneFrom)
	}
	l.expr(x.PreWhere, lanePreWhere)
	l.expr(x.Where, laneWhere)
	l.expr(x.StartWith, laneStart)
	l.expr(x.ConnectBy, laneConnect)
	if x.GroupBy != nil {
		l.add(x.GroupBy.Start, laneGroup)
	}
	if x.Model != nil {
		l.add(x.Model.Start, laneModel)
	}
	l.expr(x.Having, laneHaving)
	if len(x.Windows) > 0 {
		l.add(x.Windows[0].Start, laneWindows)
	}
	l.expr(x.Qualify, laneQualify)
	if len(x.Cluster) > 0 {
		l.expr(x.Cluster[0], laneCluster)
	}
	if len(x.Sort) > 0 {
		l.add(x.Sort[0].Start, laneSort)
	}
	for i := range l.sorted() {
		inspectClause(x, l.all[i].kind, f)
	}
}

func inspectClause(x *Select, k lane, f func(Node) bool) {
	switch k {
	case laneDistinct:
		exprs(x.DistinctOn, f)
	case laneLimit:
		expr(x.Top, f)
	case laneItems:
		items(x.Items, f)
	case laneInto:
		inspectRef(x.Into, f)
	case laneTransform:
		inspectPart(x.Transform, f)
	case laneFrom:
		refs(x.From, f)
	case lanePreWhere:
		expr(x.PreWhere, f)
	case laneWhere:
		expr(x.Where, f)
	case laneStart:
		expr(x.StartWith, f)
	case laneModel:
		inspectModel(x.Model, f)
	case laneConnect:
		expr(x.ConnectBy, f)
	case laneGroup:
		inspectPart(x.GroupBy, f)
	case laneHaving:
		expr(x.Having, f)
	case laneWindows:
		for i := range x.Windows {
			inspectPart(&x.Windows[i], f)
		}
	case laneQualify:
		expr(x.Qualify, f)
	case laneCluster:
		exprs(x.Cluster, f)
	case laneSort:
		orders(x.Sort, f)
	}
}
