package syntax

func inspectExpr(n Expr, f func(Node) bool) {
	switch x := n.(type) {
	case *Ref:
		if f(x) {
			idents(x.Parts, f)
		}
	case *Star:
		if f(x) {
			idents(x.Of, f)
			idents(x.Except, f)
			items(x.Replace, f)
			for i := range x.Rename {
				idents(x.Rename[i][:], f)
			}
		}
	case *Literal, *Variable, *Skipped:
		f(x)
	case *Call:
		inspectCall(x, f)
	case *Case:
		if f(x) {
			expr(x.Operand, f)
			for i := range x.Whens {
				inspectPart(&x.Whens[i], f)
			}
			expr(x.Else, f)
		}
	case *Cast:
		if f(x) {
			first := x.Type != nil && x.X != nil && x.Type.Start < x.X.Range().Start
			if first {
				inspectPart(x.Type, f)
			}
			expr(x.X, f)
			if !first {
				inspectPart(x.Type, f)
			}
		}
	case *Op:
		if f(x) {
			exprs(x.Args, f)
		}
	case *Sub:
		if f(x) {
			expr(x.Left, f)
			query(x.Query, f)
		}
	case *Field:
		if f(x) {
			expr(x.X, f)
			ident(&x.Name, f)
		}
	case *Index:
		if f(x) {
			expr(x.X, f)
			expr(x.At, f)
			expr(x.To, f)
		}
	case *Lambda:
		if f(x) {
			if len(x.Params) > 0 && x.Params[0].Start >= x.Start && x.Params[0].End <= x.End {
				idents(x.Params, f)
			}
			expr(x.Body, f)
		}
	case *List:
		if f(x) {
			items(x.Items, f)
		}
	}
}

// inspectCall visits a call's parts: the name is its own, save for a method's,
// which stands after its first argument.
func inspectCall(x *Call, f func(Node) bool) {
	if !f(x) {
		return
	}
	method := len(x.Args) > 0 && len(x.Name.Parts) > 0 && x.Args[0] != nil && x.Args[0].Range().Start < x.Name.Start
	args := x.Args
	if method {
		expr(args[0], f)
		args = args[1:]
	}
	inspectPart(&x.Name, f)
	exprs(x.Params, f)
	// A table or a query may stand between arguments.
	for _, a := range args {
		if a == nil {
			continue
		}
		if x.Table != nil && x.Table.End <= a.Range().Start {
			break
		}
		if x.Query != nil && x.Query.End <= a.Range().Start {
			break
		}
		expr(a, f)
		args = args[1:]
	}
	if x.Table != nil {
		inspectRef(x.Table, f)
	}
	query(x.Query, f)
	early := len(x.Order) > 0 && len(args) > 0 && args[0] != nil && x.Order[0].Start < args[0].Range().Start
	if early { // of a table that more arguments follow
		orders(x.Order, f)
	}
	exprs(args, f)
	if !early {
		orders(x.Order, f)
	}
	late := x.Filter != nil && len(x.Within) > 0 && x.Filter.Range().Start < x.Within[0].Start
	if late {
		expr(x.Filter, f)
	}
	orders(x.Within, f)
	if !late {
		expr(x.Filter, f)
	}
	inspectPart(x.Over, f)
}
