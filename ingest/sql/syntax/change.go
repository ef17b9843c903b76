package syntax

// update reads UPDATE.
func (p *parser) update(start int32, with *With) Body {
	u := &Update{With: with}
	p.next()
	for p.takeOne("LOW_PRIORITY", "IGNORE") {
	}
	p.alibaba()
	if p.take("OR") {
		p.next()
	}
	p.top()
	if p.queryAt(p.i) {
		at := p.pos()
		d := &Derived{Query: p.parenQuery()}
		p.alias(&d.Alias, true)
		d.Span = p.from(at)
		u.Target = p.joins(at, d)
	} else {
		p.take("ONLY")
		u.Target = p.tableRef()
	}
	at := u.Target.Range().Start
	for p.at(',') && !p.broken { // MySQL's many tables
		p.next()
		j := &Join{Kind: "CROSS", Comma: true, Left: u.Target, Right: p.tableRef()}
		j.Span = p.from(at)
		u.Target = j
	}
	if p.is("FROM") && !p.broken { // Teradata's UPDATE t FROM s SET …
		p.next()
		u.From = p.fromList()
	}
	if p.take("FOR", "PORTION", "OF") {
		for !p.is("SET") && !p.ended() {
			p.skip()
		}
	}
	if p.take("SET") {
		u.Set = p.assignments()
	} else {
		p.warn(Span{p.pos(), p.tok().end}, "an UPDATE without SET")
	}
	p.changeTail(&u.From, &u.Where, &u.Returning)
	u.Span = p.from(start)
	return u
}

// alibaba steps over the hints of MySQL's descendants: FORCE ALL PARTITIONS,
// ROLLBACK_ON_FAIL, TARGET_AFFECT_ROW n.
func (p *parser) alibaba() {
	for {
		switch {
		case p.take("FORCE", "ALL", "PARTITIONS"), p.take("FORCE", "PARTITIONS"), p.take("ROLLBACK_ON_FAIL"), p.take("COMMIT_ON_SUCCESS"):
		case p.is("TARGET_AFFECT_ROW") && p.ahead(1).kind == tNumber:
			p.step(2)
		default:
			return
		}
	}
}

// top steps over tsql's TOP (n).
func (p *parser) top() {
	if p.is("TOP") && (p.atAhead(1, '(') || p.ahead(1).kind == tNumber) {
		p.next()
		p.skip()
		p.take("PERCENT")
	}
}

// changeTail reads what follows the changes of UPDATE and DELETE.
func (p *parser) changeTail(from *[]TableRef, where *Expr, returning *[]SelectItem) {
	for !p.broken {
		switch {
		case (p.is("FROM") || p.is("USING")) && *where == nil && *from == nil:
			p.next()
			*from = append(*from, p.fromList()...)
		case p.seq("WHERE", "CURRENT", "OF") && *where == nil:
			p.step(3)
			p.name()
		case p.is("WHERE") && *where == nil:
			p.next()
			*where = p.expr()
		case p.is("RETURNING"), p.is("RETURN") && p.d.Fold == FoldUpper:
			p.next()
			*returning = p.returning()
		case p.is("OUTPUT"):
			p.output(returning)
		case p.seq("ORDER", "BY"):
			p.step(2)
			p.orderItems()
		case p.is("LIMIT"):
			p.next()
			p.expr()
			if p.eat(',') || p.take("OFFSET") {
				p.expr()
			}
		case p.is("OPTION") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.is("SETTINGS"):
			p.next()
			p.settings()
		case p.seq("LOG", "ERRORS"):
			p.skipToEnd()
		case p.seq("PARTITION") && p.atAhead(1, '('), p.seq("TEMPORARY", "PARTITION"):
			p.take("TEMPORARY")
			p.next()
			p.skip()
		case p.take("IN", "PARTITION"):
			p.expr()
		case p.take("ON", "CLUSTER"):
			p.next()
		case p.seq("WITH") && (p.isAhead(1, "UR") || p.isAhead(1, "RS") || p.isAhead(1, "RR") || p.isAhead(1, "CS")):
			p.step(2)
		case p.take("ALL"): // Teradata
		default:
			return
		}
	}
}

// delete reads DELETE, MySQL's forms of several tables too.
func (p *parser) delete(start int32, with *With) Body {
	d := &Delete{With: with}
	p.next()
	for p.takeOne("LOW_PRIORITY", "QUICK", "IGNORE") {
	}
	p.alibaba()
	p.top()
	switch {
	case p.take("FROM"):
		if p.queryAt(p.i) {
			q := p.parenQuery()
			if t := firstTable(q); t != nil {
				d.Targets = []*Table{t}
			} else {
				p.warn(q.Span, "a query to delete from names no table")
			}
			break
		}
		p.deleteFrom(d)
	default: // DELETE t, u FROM …; DELETE t WHERE …
		p.list(func() {
			if t := p.deleteTarget(); t != nil {
				d.Targets = append(d.Targets, t)
			}
		})
		if p.is("OUTPUT") {
			p.output(&d.Returning)
		}
		if p.take("FROM") {
			d.From = p.fromList()
		}
	}
	p.changeTail(&d.From, &d.Where, &d.Returning)
	d.Span = p.from(start)
	return d
}

// deleteTarget reads t, t.*, t alias.
func (p *parser) deleteTarget() *Table {
	if !p.identAhead(0) {
		return nil
	}
	t := p.tableName()
	if p.at('.') && p.atAhead(1, '*') {
		p.step(2)
		t.Span = p.from(t.Start)
		return t
	}
	if !p.is("FROM") && !p.is("WHERE") && !p.is("USING") && !(p.is("OUTPUT") && p.d.NoSemicolons) {
		p.tableTail(t)
		t.Span = p.from(t.Start)
	}
	return t
}

// deleteFrom reads what follows DELETE FROM: one target, or several with
// USING.
func (p *parser) deleteFrom(d *Delete) {
	p.take("ONLY")
	at := p.i
	t := p.deleteTarget()
	if t == nil {
		p.warn(Span{p.pos(), p.tok().end}, "a table is missing after DELETE FROM")
		return
	}
	d.Targets = []*Table{t}
	for p.at(',') && !p.broken {
		p.next()
		if t := p.deleteTarget(); t != nil {
			d.Targets = append(d.Targets, t)
		}
	}
	if p.joinAhead() { // DELETE FROM t JOIN u …
		p.i = at
		d.From = []TableRef{p.tableRef()}
	}
}

// merge reads MERGE.
func (p *parser) merge(start int32, with *With) Body {
	m := &Merge{With: with}
	p.next()
	p.take("WITH", "SCHEMA", "EVOLUTION")
	p.top()
	p.take("INTO")
	if p.queryAt(p.i) {
		q := p.parenQuery()
		if m.Target = firstTable(q); m.Target == nil {
			m.Target = &Table{Span: q.Span}
		}
		var a Alias
		p.alias(&a, true)
	} else {
		p.take("ONLY")
		m.Target = p.tableName()
		p.tableTail(m.Target)
		m.Target.Span = p.from(m.Target.Start)
	}
	p.take("WITH", "SCHEMA", "EVOLUTION")
	if p.take("USING") {
		m.Source = p.tableRef()
	} else {
		p.warn(Span{p.pos(), p.tok().end}, "a MERGE without USING")
	}
	if p.take("ON") {
		m.On = p.expr()
	} else if p.take("USING") { // DuckDB's
		p.skip()
	}
	for p.is("WHEN") && !p.broken {
		m.Actions = append(m.Actions, p.mergeAction())
	}
	for !p.broken {
		switch {
		case p.is("OUTPUT"), p.is("RETURNING"):
			var items []SelectItem
			p.output(&items)
		case p.is("OPTION") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.seq("LOG", "ERRORS"):
			p.skipToEnd()
		case p.take("REMOVE", "DUPLICATES"): // Redshift's: what matches is replaced
			m.Actions = append(m.Actions, MergeAction{Span: p.from(start), Verb: "INSERT", Star: true})
		case p.take("ELSE", "IGNORE"), p.take("NOT", "ATOMIC", "CONTINUE", "ON", "SQLEXCEPTION"):
		default:
			m.Span = p.from(start)
			return m
		}
	}
	m.Span = p.from(start)
	return m
}

func (p *parser) mergeAction() MergeAction {
	start := p.pos()
	p.next()
	a := MergeAction{Matched: true}
	if p.take("NOT") {
		a.Matched = false
	}
	p.take("MATCHED")
	if p.take("BY") {
		a.BySource = p.is("SOURCE")
		p.next()
	}
	if p.take("AND") {
		a.And = p.expr()
	}
	p.take("THEN")
	a.Verb = p.word()
	switch a.Verb {
	case "UPDATE":
		p.next()
		p.mergeUpdate(&a)
	case "DELETE":
		p.next()
		if p.take("WHERE") {
			a.Where = p.expr()
		}
	case "INSERT":
		p.next()
		p.mergeInsert(&a)
	case "DO":
		p.take("DO", "NOTHING")
		a.Verb = "NOTHING"
	case "NOTHING", "IGNORE":
		p.next()
		a.Verb = "NOTHING"
	case "SIGNAL":
		for !p.ended() && !p.is("WHEN") && !p.is("ELSE") {
			p.skip()
		}
	default:
		p.skipTo(clause, "an action of MERGE")
	}
	a.Span = p.from(start)
	return a
}

func (p *parser) mergeUpdate(a *MergeAction) {
	switch {
	case p.take("ALL", "BY", "NAME"), p.take("BY", "NAME"), p.take("BY", "POSITION"), p.ended():
		a.Star = true
	case p.is("SET") && p.atAhead(1, '*'):
		p.step(2)
		a.Star = true
		if p.is("EXCEPT") && p.atAhead(1, '(') {
			p.next()
			p.names(func(id Ident) { a.Except = append(a.Except, id) })
		}
	case p.take("SET"):
		a.Set = p.assignments()
	default:
		a.Star = true
	}
	for p.take("WHERE") || p.seq("DELETE", "WHERE") {
		if p.take("DELETE") {
			p.next()
		}
		p.conjoin(&a.Where, p.expr())
	}
}

func (p *parser) mergeInsert(a *MergeAction) {
	switch {
	case p.take("ALL", "BY", "NAME"), p.take("BY", "NAME"), p.take("BY", "POSITION"), p.take("ROW"):
		a.Star = true
	case p.at('*'):
		p.next()
		a.Star = true
		if p.is("EXCEPT") && p.atAhead(1, '(') {
			p.next()
			p.names(func(id Ident) { a.Except = append(a.Except, id) })
		}
	}
	if p.at('(') {
		p.group(func() { p.list(func() { a.Columns = append(a.Columns, p.name()) }) })
	}
	if p.is("OVERRIDING") {
		p.step(3)
	}
	switch {
	case p.take("DEFAULT", "VALUES"), p.take("ROW"):
		a.Star = true
	case p.take("VALUES"):
		if p.at('(') {
			p.group(func() { p.list(func() { a.Values = append(a.Values, p.expr()) }) })
		} else {
			a.Values = append(a.Values, p.expr())
		}
	}
	if p.take("WHERE") {
		a.Where = p.expr()
	}
}
