package syntax

func inspectRef(n TableRef, f func(Node) bool) {
	switch x := n.(type) {
	case *Table:
		if x != nil && f(x) {
			inspectTable(x, f)
		}
	case *Derived:
		if f(x) {
			query(x.Query, f)
			if x.Body != nil {
				inspectBody(x.Body, f)
			}
			inspectAlias(&x.Alias, f)
		}
	case *TableFunc:
		if f(x) {
			inspectTableFunc(x, f)
		}
	case *Join:
		if f(x) {
			if x.Left != nil {
				inspectRef(x.Left, f)
			}
			if x.Right != nil {
				inspectRef(x.Right, f)
			}
			expr(x.On, f)
			idents(x.Using, f)
		}
	case *LateralView:
		if f(x) {
			inspectRef(x.Source, f)
			if x.Call != nil {
				inspectExpr(x.Call, f)
			}
			inspectAlias(&x.Alias, f)
		}
	case *ArrayJoin:
		if f(x) {
			items(x.Items, f)
		}
	case *Pivot:
		if f(x) {
			inspectPivot(x, f)
		}
	case *Unpivot:
		if f(x) {
			inspectUnpivot(x, f)
		}
	case *MatchRecognize:
		if f(x) {
			inspectRef(x.Source, f)
			exprs(x.Partition, f)
			orders(x.Order, f)
			items(x.Measures, f)
			idents(x.Variables, f)
			items(x.Define, f)
			inspectAlias(&x.Alias, f)
		}
	case *Paren:
		if f(x) {
			inspectRef(x.Ref, f)
			inspectAlias(&x.Alias, f)
		}
	}
}

func inspectTable(x *Table, f func(Node) bool) {
	inspectPart(&x.Name, f)
	var l lanes
	l.expr(x.Temporal, laneTemporal)
	if len(x.Partition) > 0 {
		l.add(x.Partition[0].Start, lanePartition)
	}
	l.expr(x.Sample, laneSample)
	if x.Alias.End > x.Alias.Start {
		l.add(x.Alias.Start, laneAlias)
	}
	for i := range l.sorted() {
		switch l.all[i].kind {
		case laneTemporal:
			expr(x.Temporal, f)
		case lanePartition:
			partitions(x.Partition, f)
		case laneSample:
			expr(x.Sample, f)
		case laneAlias:
			inspectAlias(&x.Alias, f)
		}
	}
}

// inspectTableFunc visits a function's columns where they are its own; those of
// an alias with types stand in the alias, whose names are visited.
func inspectTableFunc(x *TableFunc, f func(Node) bool) {
	if x.Call != nil {
		inspectExpr(x.Call, f)
	}
	if len(x.Columns) > 0 && (x.Call == nil || x.Columns[0].Start >= x.Call.End) && x.Alias.End <= x.Columns[0].Start {
		columns(x.Columns, f)
		inspectAlias(&x.Alias, f)
		ident(&x.OffsetName, f)
		return
	}
	inspectAlias(&x.Alias, f)
	ident(&x.OffsetName, f)
}

func inspectPivot(x *Pivot, f func(Node) bool) {
	inspectRef(x.Source, f)
	var l lanes
	if len(x.Aggregates) > 0 {
		l.add(x.Aggregates[0].Start, laneItems)
	}
	if len(x.For) > 0 {
		l.expr(x.For[0], laneFrom)
	}
	if x.GroupBy != nil {
		l.add(x.GroupBy.Start, laneGroup)
	}
	for i := range l.sorted() {
		switch l.all[i].kind {
		case laneItems:
			items(x.Aggregates, f)
		case laneGroup:
			inspectPart(x.GroupBy, f)
		case laneFrom: // values stand after the columns that they are of
			in := x.In
			for k, c := range x.For {
				expr(c, f)
				for len(in) > 0 && k+1 < len(x.For) && in[0].Start < x.For[k+1].Range().Start {
					inspectItem(&in[0], f)
					in = in[1:]
				}
			}
			items(in, f)
		}
	}
	inspectAlias(&x.Alias, f)
}

func inspectUnpivot(x *Unpivot, f func(Node) bool) {
	inspectRef(x.Source, f)
	late := len(x.In) > 0 && len(x.In[0]) > 0 && len(x.Names) > 0 && x.In[0][0].Range().Start < x.Names[0].Start
	if !late {
		idents(x.Values, f)
		idents(x.Names, f)
	}
	for i, group := range x.In {
		exprs(group, f)
		if i < len(x.Labels) {
			expr(x.Labels[i], f)
		}
	}
	if late {
		idents(x.Names, f)
		idents(x.Values, f)
	}
	inspectAlias(&x.Alias, f)
}
