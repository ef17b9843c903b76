package syntax

// partitionColumns reads PARTITIONED BY (a, b STRING, days(c)).
func (p *parser) partitionColumns(t *definition) {
	p.take("SPEC") // Impala's and Hive's iceberg
	one := func() {
		start := p.pos()
		if !p.identAhead(0) && p.tok().kind != tString {
			if !p.at(')') {
				x := p.expr()
				t.partitioned = append(t.partitioned, ColumnDef{Span: p.from(start), As: x})
			}
			return
		}
		if p.atAhead(1, '(') {
			x := p.expr()
			c := ColumnDef{Span: p.from(start), As: x}
			if p.take("AS") { // trunc(x) AS y
				c.Name = p.name()
				c.Span = p.from(start)
			}
			t.partitioned = append(t.partitioned, c)
			return
		}
		t.partitioned = append(t.partitioned, p.columnDef())
	}
	if p.at('(') {
		p.group(func() { p.list(one) })
		return
	}
	p.list(one)
}

// partitionBy reads PARTITION BY RANGE (a) (PARTITION …), LIST (a), HASH (a)
// PARTITIONS n, an expression, (a, b).
func (p *parser) partitionBy(t *definition) {
	p.take("LINEAR")
	switch {
	case p.is("RANGE"), p.is("LIST"), p.is("HASH"), p.is("KEY"), p.is("SYSTEM"), p.is("REFERENCE"), p.is("SYSTEM_TIME"), p.is("CONSISTENT"):
		p.next()
		p.takeOne("COLUMNS", "HASH")
		if p.take("ALGORITHM") {
			p.step(2)
		}
		p.partitionKeys(t)
	case p.at('('):
		p.partitionKeys(t)
	default:
		p.list(func() {
			start := p.pos()
			x := p.expr()
			c := ColumnDef{Span: p.from(start), As: x}
			if r, ok := x.(*Ref); ok {
				c.Name, c.As = r.Name, nil
			}
			t.partitioned = append(t.partitioned, c)
		})
	}
	p.partitionTail()
}

func (p *parser) partitionKeys(t *definition) {
	p.group(func() {
		if p.at(')') {
			return
		}
		p.list(func() {
			if p.is("PARTITION") && p.identAhead(1) { // the list of partitions itself
				p.skipInside()
				return
			}
			start := p.pos()
			x := p.expr()
			c := ColumnDef{Span: p.from(start), As: x}
			if r, ok := x.(*Ref); ok {
				c.Name, c.As = r.Name, nil
			}
			for p.takeOne("ASC", "DESC") || p.identAhead(0) && !p.ended() { // collations, operator classes
				p.next()
			}
			t.partitioned = append(t.partitioned, c)
		})
	})
}

// partitionTail reads subpartitions, their number and the list of partitions.
func (p *parser) partitionTail() {
	for !p.broken {
		switch {
		case p.at('(') && !p.queryAt(p.i):
			p.skip()
		case p.is("PARTITIONS") || p.is("SUBPARTITIONS"):
			p.next()
			p.value()
		case p.seq("SUBPARTITION", "BY"), p.seq("SUBPARTITION", "TEMPLATE"):
			p.step(2)
			p.take("LINEAR")
			p.take("KEY")
			if p.tok().kind == tWord && !p.at('(') {
				p.next()
			}
			p.take("COLUMNS")
			p.skip()
		case p.is("INTERVAL") && p.atAhead(1, '('), p.is("AUTOMATIC"), p.is("EXPIRATION"):
			p.next()
		case p.seq("STORE", "IN"):
			p.step(2)
			p.skip()
		case p.seq("FOR", "VALUES"):
			for !p.ended() && !p.is("PARTITION") && !p.is("WITH") {
				p.skip()
			}
		default:
			return
		}
	}
}
