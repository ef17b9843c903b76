package syntax

// Inspect calls f for n and, where f tells true, for what n is made of, in the
// order of the text. f is given pointers, to items of slices too. Nodes that a
// Select or a Call shares (the keys of a Pipe) are visited once. It allocates
// nothing.
func Inspect(n Node, f func(Node) bool) {
	switch x := n.(type) {
	case nil:
	case *Statement:
		if x != nil && f(x) && x.Body != nil {
			Inspect(x.Body, f)
		}
	case Body:
		inspectBody(x, f)
	case Expr:
		inspectExpr(x, f)
	case TableRef:
		inspectRef(x, f)
	case SetExpr:
		inspectSet(x, f)
	default:
		inspectPart(n, f)
	}
}

// inspectPart visits parts that stand in nodes by value or by pointer.
func inspectPart(n Node, f func(Node) bool) {
	switch x := n.(type) {
	case *With:
		if x != nil && f(x) {
			for _, c := range x.Items {
				inspectPart(c, f)
			}
		}
	case *CTE:
		inspectCTE(x, f)
	case *SelectItem:
		inspectItem(x, f)
	case *GroupBy:
		if x != nil && f(x) {
			exprs(x.Keys, f)
		}
	case *OrderItem:
		if f(x) {
			expr(x.Expr, f)
		}
	case *NamedWindow:
		if f(x) {
			ident(&x.Name, f)
			inspectPart(x.Window, f)
		}
	case *Window:
		if x != nil && f(x) {
			ident(&x.Name, f)
			exprs(x.Partition, f)
			orders(x.Order, f)
			items(x.Measures, f)
			items(x.Define, f)
		}
	case *When:
		if f(x) {
			expr(x.Cond, f)
			expr(x.Then, f)
		}
	case *Transform:
		if x != nil && f(x) {
			exprs(x.Args, f)
			columns(x.Columns, f)
		}
	case *Pipe:
		inspectPipe(x, f)
	case *ColumnDef:
		inspectColumn(x, f)
	case *Type:
		if x != nil && f(x) {
			fields := x.Fields
			for _, a := range x.Args { // some elements may have names, others none
				for len(fields) > 0 && fields[0].Start < a.Start {
					inspectColumn(&fields[0], f)
					fields = fields[1:]
				}
				inspectPart(a, f)
			}
			columns(fields, f)
		}
	case *Alias:
		inspectAlias(x, f)
	case *Name:
		if len(x.Parts) > 0 && f(x) {
			idents(x.Parts, f)
		}
	case *PartitionItem:
		if f(x) {
			inspectPart(&x.Column, f)
			expr(x.Value, f)
		}
	case *Assignment:
		if f(x) {
			for i := range x.Targets {
				inspectPart(&x.Targets[i], f)
			}
			expr(x.Value, f)
		}
	case *MergeAction:
		inspectAction(x, f)
	case *AlterAction:
		inspectAlter(x, f)
	case *Ident, *Option:
		f(x)
	}
}

func inspectCTE(x *CTE, f func(Node) bool) {
	if x == nil || !f(x) {
		return
	}
	expr(x.Scalar, f)
	ident(&x.Name, f)
	idents(x.Columns, f)
	query(x.Query, f)
	if x.Body != nil {
		Inspect(x.Body, f)
	}
}

func inspectItem(x *SelectItem, f func(Node) bool) {
	if !f(x) {
		return
	}
	first := x.Alias.Text != "" && x.Expr != nil && x.Alias.Start < x.Expr.Range().Start
	if first {
		ident(&x.Alias, f)
	}
	expr(x.Expr, f)
	if !first {
		ident(&x.Alias, f)
	}
	idents(x.Aliases, f)
}

func inspectPipe(x *Pipe, f func(Node) bool) {
	if !f(x) {
		return
	}
	if x.Select != nil {
		Inspect(x.Select, f)
	}
	if x.Join != nil {
		Inspect(x.Join, f)
	}
	orders(x.Order, f)
	expr(x.Limit, f)
	for _, q := range x.Queries {
		Inspect(q, f)
	}
}

func inspectColumn(x *ColumnDef, f func(Node) bool) {
	if !f(x) {
		return
	}
	if x.As != nil && len(x.Name.Parts) > 0 && x.As.Range().Start < x.Name.Start {
		expr(x.As, f)
		inspectPart(&x.Name, f)
		return
	}
	inspectPart(&x.Name, f)
	inspectPart(x.Type, f)
	expr(x.As, f)
}

func inspectAlias(x *Alias, f func(Node) bool) {
	if x.Name.Text == "" && len(x.Columns) == 0 || !f(x) {
		return
	}
	ident(&x.Name, f)
	idents(x.Columns, f)
}

func inspectAction(x *MergeAction, f func(Node) bool) {
	if !f(x) {
		return
	}
	expr(x.And, f)
	assignments(x.Set, f)
	names(x.Columns, f)
	exprs(x.Values, f)
	expr(x.Where, f)
}

func inspectAlter(x *AlterAction, f func(Node) bool) {
	if !f(x) {
		return
	}
	partitions(x.Partition, f)
	ident(&x.Renamed, f)
	if x.To != nil {
		Inspect(x.To, f)
	}
	columns(x.Columns, f)
	query(x.Query, f)
}

func expr(x Expr, f func(Node) bool) {
	if x != nil {
		inspectExpr(x, f)
	}
}

func exprs(xs []Expr, f func(Node) bool) {
	for _, x := range xs {
		expr(x, f)
	}
}

func query(q *Query, f func(Node) bool) {
	if q != nil {
		inspectSet(q, f)
	}
}

func ident(x *Ident, f func(Node) bool) {
	if x.Text != "" {
		f(x)
	}
}

func idents(xs []Ident, f func(Node) bool) {
	for i := range xs {
		ident(&xs[i], f)
	}
}

func names(xs []Name, f func(Node) bool) {
	for i := range xs {
		inspectPart(&xs[i], f)
	}
}

func items(xs []SelectItem, f func(Node) bool) {
	for i := range xs {
		inspectItem(&xs[i], f)
	}
}

func orders(xs []OrderItem, f func(Node) bool) {
	for i := range xs {
		inspectPart(&xs[i], f)
	}
}

func columns(xs []ColumnDef, f func(Node) bool) {
	for i := range xs {
		inspectColumn(&xs[i], f)
	}
}

func partitions(xs []PartitionItem, f func(Node) bool) {
	for i := range xs {
		inspectPart(&xs[i], f)
	}
}

func assignments(xs []Assignment, f func(Node) bool) {
	for i := range xs {
		inspectPart(&xs[i], f)
	}
}

func refs(xs []TableRef, f func(Node) bool) {
	for _, x := range xs {
		inspectRef(x, f)
	}
}
