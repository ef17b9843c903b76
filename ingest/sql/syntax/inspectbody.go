package syntax

func inspectBody(n Body, f func(Node) bool) {
	if !f(n) {
		return
	}
	switch x := n.(type) {
	case *QueryStatement:
		query(x.Query, f)
	case *Insert:
		inspectInsert(x, f)
	case *Multi:
		inspectMulti(x, f)
	case *Update:
		inspectPart(x.With, f)
		if x.Target != nil {
			inspectRef(x.Target, f)
		}
		var l lanes
		inspectChange(&l, x.Set, x.From, x.Where, x.Returning, nil, f)
	case *Delete:
		inspectPart(x.With, f)
		var l lanes
		inspectChange(&l, nil, x.From, x.Where, x.Returning, x.Targets, f)
	case *Merge:
		inspectPart(x.With, f)
		table(x.Target, f)
		if x.Source != nil {
			inspectRef(x.Source, f)
		}
		expr(x.On, f)
		for i := range x.Actions {
			inspectAction(&x.Actions[i], f)
		}
	case *Copy:
		inspectCopy(x, f)
	case *CreateTable, *CreateView, *Alter, *Rename, *Drop, *Truncate, *CreateFunction:
		inspectDefinition(n, f)
	case *Use:
		inspectPart(&x.Name, f)
	case *Set:
		expr(x.Value, f)
	case *Explain:
		if x.Inner != nil {
			Inspect(x.Inner, f)
		}
	case *Block:
		inspectBlock(x, f)
	case *Other:
		tables(x.Names, f)
	}
}

func table(t *Table, f func(Node) bool) {
	if t != nil {
		inspectRef(t, f)
	}
}

func tables(ts []*Table, f func(Node) bool) {
	for _, t := range ts {
		inspectRef(t, f)
	}
}

func inspectInsert(x *Insert, f func(Node) bool) {
	var l lanes
	if x.With != nil {
		inspectPart(x.With, f)
	}
	if x.When != nil && x.When.Range().Start >= x.Start { // the first of those that share it
		l.expr(x.When, laneWhen)
	}
	if x.Target != nil {
		l.add(x.Target.Start, laneTarget)
	}
	l.expr(x.Directory, laneDirectory)
	if len(x.Columns) > 0 {
		l.add(x.Columns[0].Start, laneColumns)
	}
	if len(x.Partition) > 0 {
		l.add(x.Partition[0].Start, lanePartition)
	}
	if x.Query != nil {
		l.add(x.Query.Start, laneQuery)
	}
	if len(x.Set) > 0 {
		l.add(x.Set[0].Start, laneSet)
	}
	if len(x.Update) > 0 {
		l.add(x.Update[0].Start, laneUpdate)
	}
	l.expr(x.UpdateWhere, laneWhere)
	if len(x.Returning) > 0 {
		l.add(x.Returning[0].Start, laneReturning)
	}
	for i := range l.sorted() {
		switch l.all[i].kind {
		case laneWhen:
			expr(x.When, f)
		case laneTarget:
			table(x.Target, f)
		case laneDirectory:
			expr(x.Directory, f)
		case laneColumns:
			names(x.Columns, f)
		case lanePartition:
			partitions(x.Partition, f)
		case laneQuery:
			query(x.Query, f)
		case laneSet:
			assignments(x.Set, f)
		case laneUpdate:
			assignments(x.Update, f)
		case laneWhere:
			expr(x.UpdateWhere, f)
		case laneReturning:
			items(x.Returning, f)
		}
	}
}

func inspectMulti(x *Multi, f func(Node) bool) {
	inspectPart(x.With, f)
	late := len(x.From) > 0 && len(x.Inserts) > 0 && x.Inserts[0].Start < x.From[0].Range().Start
	if !late {
		refs(x.From, f)
	}
	for _, in := range x.Inserts {
		inspectBody(in, f)
	}
	if late {
		refs(x.From, f)
	}
}

// inspectCopy visits what a Copy moves, in the order of the text.
func inspectCopy(x *Copy, f func(Node) bool) {
	var l lanes
	if x.Table != nil {
		l.add(x.Table.Start, laneTarget)
	}
	if len(x.Columns) > 0 {
		l.add(x.Columns[0].Start, laneColumns)
	}
	if len(x.Partition) > 0 {
		l.add(x.Partition[0].Start, lanePartition)
	}
	if x.Query != nil {
		l.add(x.Query.Start, laneQuery)
	}
	for i := range l.sorted() {
		switch l.all[i].kind {
		case laneTarget:
			inspectRef(x.Table, f)
		case laneColumns:
			names(x.Columns, f)
		case lanePartition:
			partitions(x.Partition, f)
		case laneQuery:
			query(x.Query, f)
		}
	}
}

// inspectChange visits the clauses of UPDATE and DELETE.
func inspectChange(l *lanes, set []Assignment, from []TableRef, where Expr, returning []SelectItem, targets []*Table, f func(Node) bool) {
	if len(targets) > 0 && targets[0] != nil {
		l.add(targets[0].Start, laneTarget)
	}
	if len(set) > 0 {
		l.add(set[0].Start, laneSet)
	}
	if len(from) > 0 {
		l.add(from[0].Range().Start, laneFrom)
	}
	l.expr(where, laneWhere)
	if len(returning) > 0 {
		l.add(returning[0].Start, laneReturning)
	}
	shared := len(from) > 0 && len(targets) > 0 && targets[0].Start >= from[0].Range().Start && targets[0].End <= from[0].Range().End
	for i := range l.sorted() {
		switch l.all[i].kind {
		case laneTarget:
			if !shared {
				tables(targets, f)
			}
		case laneSet:
			assignments(set, f)
		case laneFrom:
			refs(from, f)
		case laneWhere:
			expr(where, f)
		case laneReturning:
			items(returning, f)
		}
	}
}

// inspectBlock visits conditions and statements as they come in the text.
func inspectBlock(x *Block, f func(Node) bool) {
	if x.What != "FOR" {
		inspectPart(&x.Name, f)
	}
	params, conditions := x.Params, x.Conditions
	before := func(end int32) {
		for {
			switch {
			case len(params) > 0 && params[0].Start < end && (len(conditions) == 0 || params[0].Start < conditions[0].Range().Start):
				ident(&params[0], f)
				params = params[1:]
			case len(conditions) > 0 && conditions[0].Range().Start < end:
				expr(conditions[0], f)
				conditions = conditions[1:]
			default:
				return
			}
		}
	}
	if x.On != nil {
		before(x.On.Start)
		table(x.On, f)
	}
	for _, st := range x.Statements {
		before(st.Start)
		Inspect(st, f)
	}
	before(1<<31 - 1)
}

func inspectDefinition(n Body, f func(Node) bool) {
	switch x := n.(type) {
	case *CreateTable:
		inspectPart(x.With, f)
		inspectCreate(x.Name, x.Columns, x.Like, x.Parent, nil, x.PartitionedBy, nil, x.Options, x.Query, f)
	case *CreateView:
		inspectCreate(x.Name, x.Columns, nil, nil, x.To, nil, x.PartitionedBy, x.Options, x.Query, f)
	case *Alter:
		table(x.Table, f)
		for i := range x.Actions {
			inspectAlter(&x.Actions[i], f)
		}
	case *Rename:
		for _, pair := range x.Pairs {
			tables(pair[:], f)
		}
	case *Drop:
		tables(x.Names, f)
	case *Truncate:
		tables(x.Tables, f)
		partitions(x.Partition, f)
	case *CreateFunction:
		inspectPart(&x.Name, f)
		idents(x.Params, f)
		expr(x.Body, f)
		query(x.Query, f)
	}
}

// inspectCreate visits the parts of a definition; options may stand between
// all others, so that they are visited one by one.
func inspectCreate(name *Table, cols []ColumnDef, like, parent, to *Table, part []ColumnDef, partExprs []Expr, opts []Option, q *Query, f func(Node) bool) {
	table(name, f)
	rest := [3]*Table{like, parent, to}
	for {
		next, at := -1, int32(1<<31-1)
		see := func(k int, start int32) {
			if start < at {
				next, at = k, start
			}
		}
		if len(cols) > 0 {
			see(0, cols[0].Start)
		}
		if len(part) > 0 {
			see(1, part[0].Start)
		}
		if len(partExprs) > 0 {
			see(2, partExprs[0].Range().Start)
		}
		if len(opts) > 0 {
			see(3, opts[0].Start)
		}
		if q != nil {
			see(4, q.Start)
		}
		for k, t := range rest {
			if t != nil {
				see(5+k, t.Start)
			}
		}
		switch next {
		case -1:
			return
		case 0:
			inspectColumn(&cols[0], f)
			cols = cols[1:]
		case 1:
			inspectColumn(&part[0], f)
			part = part[1:]
		case 2:
			expr(partExprs[0], f)
			partExprs = partExprs[1:]
		case 3:
			f(&opts[0])
			opts = opts[1:]
		case 4:
			query(q, f)
			q = nil
		default:
			table(rest[next-5], f)
			rest[next-5] = nil
		}
	}
}
