package syntax

// fromList reads the references after FROM.
func (p *parser) fromList() []TableRef {
	refs := make([]TableRef, 0, 1)
	if p.is("UNIQUEJOIN") && p.identAhead(1) {
		return append(refs, p.uniqueJoin())
	}
	p.list(func() {
		if p.ended() || p.atCloser() || p.has(noExpr) && !p.atAhead(1, '.') && p.tok().kind == tWord && !((p.is("ORDER") || p.is("GROUP")) && !p.isAhead(1, "BY") && len(refs) == 0) {
			if len(refs) == 0 {
				p.warn(Span{p.pos(), p.tok().end}, "a table is missing after FROM")
			}
			return
		}
		refs = append(refs, p.tableRef())
	})
	for p.seq("LATERAL", "VIEW") && len(refs) > 0 {
		refs[len(refs)-1] = p.lateralView(refs[len(refs)-1])
	}
	return refs
}

// tableRef reads a reference and what is joined to it.
func (p *parser) tableRef() TableRef {
	if !p.enter() {
		p.leave()
		return &Table{Span: p.from(p.pos())}
	}
	defer p.leave()
	start := p.pos()
	ref := p.joins(start, p.tablePrimary())
	for n := 0; n < maxChain && !p.broken; n++ { // PIVOT and its kin over a join
		i := p.i
		if ref = p.joins(start, p.refSuffixes(start, ref)); p.i == i {
			break
		}
	}
	return ref
}

// tablePrimary reads one reference with its alias and what follows it:
// samples, pivots, patterns.
func (p *parser) tablePrimary() TableRef {
	start := p.pos()
	lateral := false
	if p.is("LATERAL") && !p.isAhead(1, "VIEW") {
		p.next()
		lateral = true
	}
	p.hints()
	if p.is("STREAM") && p.d.Name == "spark" && p.identAhead(1) && !p.has(clause) && !p.isAhead(1, "AS") {
		p.next() // Databricks' streaming tables
	}
	var ref TableRef
	switch t := p.tok(); {
	case t.ch == '(':
		ref = p.parenRef(start, lateral)
	case t.kind == tStage:
		ref = p.stage()
	case t.kind == tString && !p.identAhead(0) && p.text[t.start] != '"':
		ref = p.pathTable()
	case t.ch == '{' && p.isAhead(1, "OJ"): // ODBC's outer join
		ref = p.odbcJoin()
	case p.is("VALUES") && (p.atAhead(1, '(') || p.ahead(1).kind == tNumber || p.ahead(1).kind == tString):
		v := p.pos()
		p.next()
		vs := p.values(v)
		d := &Derived{Query: &Query{Span: vs.Span, Body: vs}}
		p.alias(&d.Alias, true)
		d.Span = p.from(start)
		ref = d
	case p.is("TABLE") && p.atAhead(1, '('), p.is("THE") && p.atAhead(1, '('), p.is("ONLY") && p.atAhead(1, '('):
		ref = p.tableCall(start, lateral)
	case (p.is("FINAL") || p.is("NEW") || p.is("OLD")) && p.isAhead(1, "TABLE") && p.atAhead(2, '('):
		ref = p.changedRows(start)
	case p.is("ROWS") && p.isAhead(1, "FROM") && p.atAhead(2, '('):
		ref = p.rowsFrom(start)
	case p.is("SELECT") || p.is("PIVOT") || p.is("UNPIVOT"):
		q := p.query()
		d := &Derived{Query: q, Lateral: lateral}
		p.alias(&d.Alias, true)
		d.Span = p.from(start)
		ref = d
	case p.identAhead(0), t.kind == tString, t.ch == '{' && p.d.Ternary, p.at('.') && p.atAhead(1, '.'):
		ref = p.namedRef(start, lateral)
	default:
		p.skipTo(clause, "a table")
		return &Table{Span: p.from(start)}
	}
	return p.refSuffixes(start, ref)
}

// changedRows reads Db2's FINAL TABLE (INSERT …): the rows that a statement
// changes, all columns of them.
func (p *parser) changedRows(start int32) TableRef {
	p.step(2)
	d := &Derived{}
	p.group(func() {
		d.Body = p.body()
		end := p.last()
		all := []SelectItem{{Span: Span{end, end}, Expr: &Star{Span: Span{end, end}}}}
		switch b := d.Body.(type) {
		case *Insert:
			b.Returning = all
		case *Update:
			b.Returning = all
		case *Delete:
			b.Returning = all
		}
	})
	p.alias(&d.Alias, true)
	d.Span = p.from(start)
	return d
}

// uniqueJoin reads Hive's UNIQUEJOIN [PRESERVE] a (a.x), b (b.y): a full join of
// all of them by their keys.
func (p *parser) uniqueJoin() TableRef {
	p.next()
	var left TableRef
	var before *List
	start := p.pos()
	p.list(func() {
		p.take("PRESERVE")
		at := p.pos()
		t := p.tableName()
		if p.bareAlias() {
			t.Alias.Name = p.ident()
			t.Alias.Span = t.Alias.Name.Span
		}
		t.Span = p.from(at)
		keys := &List{Kind: "ROW"}
		k := p.pos()
		p.group(func() { p.list(func() { keys.Items = append(keys.Items, p.item()) }) })
		keys.Span = p.from(k)
		if left == nil {
			left, before = t, keys
			return
		}
		on := &Op{Span: p.from(before.Start), Op: "=", Args: []Expr{before, keys}}
		left, before = &Join{Span: p.from(start), Kind: "FULL", Left: left, Right: t, On: on}, keys
	})
	return left
}

// odbcJoin reads {OJ a LEFT OUTER JOIN b ON …}.
func (p *parser) odbcJoin() TableRef {
	open, start := p.i, p.pos()
	p.step(2)
	r := &Paren{Ref: p.tableRef()}
	p.want(open, '}')
	r.Span = p.from(start)
	return r
}

// hints steps over Doris's [shuffle] and tsql's WITH (NOLOCK) before a table.
func (p *parser) hints() {
	if p.at('[') && p.tok().mate != 0 {
		p.skip()
	}
}

// refSuffixes reads what may follow a reference: PIVOT, UNPIVOT,
// MATCH_RECOGNIZE, LATERAL VIEW, samples.
func (p *parser) refSuffixes(start int32, ref TableRef) TableRef {
	for n := 0; !p.broken && n < maxChain; n++ {
		switch p.word() {
		case "PIVOT", "UNPIVOT":
			i := 1
			if p.isAhead(1, "XML") || p.isAhead(1, "INCLUDE") || p.isAhead(1, "EXCLUDE") {
				i = 2
				if !p.isAhead(1, "XML") {
					i = 3
				}
			}
			if !p.atAhead(i, '(') {
				return ref
			}
			if p.is("PIVOT") {
				ref = p.pivot(start, ref)
			} else {
				ref = p.unpivot(start, ref)
			}
		case "FINAL":
			if !p.d.Final {
				return ref
			}
			p.next()
		case "MATCH_RECOGNIZE":
			if !p.atAhead(1, '(') {
				return ref
			}
			ref = p.matchRecognize(start, ref)
		case "LATERAL":
			if !p.isAhead(1, "VIEW") {
				return ref
			}
			ref = p.lateralView(ref)
		case "TABLESAMPLE":
			p.refSample(ref, p.sample())
			p.lateAlias(start, ref)
		case "SAMPLE":
			if !p.sampleAhead() {
				return ref
			}
			p.refSample(ref, p.sample())
			p.lateAlias(start, ref)
		default:
			return ref
		}
	}
	return ref
}
