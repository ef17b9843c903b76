package syntax

// selectQuery reads SELECT … or FROM … [SELECT …].
func (p *parser) selectQuery() SetExpr {
	start := p.pos()
	s := &Select{}
	if p.is("FROM") {
		p.next()
		s.From = p.fromList()
		if p.is("SELECT") {
			p.next()
			p.selectList(s)
		} else if p.mapReduce() {
			p.selectList(s)
		} else if !p.is("INSERT") {
			s.Items = []SelectItem{{Span: Span{start, start}, Expr: &Star{Span: Span{start, start}}}}
		}
	} else {
		if !p.mapReduce() {
			p.next()
		}
		p.selectList(s)
	}
	p.clauses(s)
	s.Span = p.from(start)
	return s
}

// clauses reads the clauses of a SELECT after its items, in any order.
func (p *parser) clauses(s *Select) {
	for !p.broken {
		if what := p.again(s); what != "" {
			p.skipTo(clause, "a second "+what)
			continue
		}
		switch p.word() {
		case "FROM":
			p.next()
			s.From = p.fromList()
		case "INTO":
			if !p.selectInto(s) {
				return
			}
		case "BULK":
			if !p.take("BULK", "COLLECT") {
				return
			}
		case "WHERE":
			p.next()
			s.Where = p.expr()
		case "PREWHERE":
			p.next()
			s.PreWhere = p.expr()
		case "GROUP":
			if !p.take("GROUP", "BY") {
				p.skipTo(clause, "GROUP")
				continue
			}
			s.GroupBy = p.groupBy()
		case "HAVING":
			p.next()
			s.Having = p.expr()
		case "QUALIFY":
			p.next()
			s.Qualify = p.expr()
		case "WINDOW":
			p.windows(s)
		case "CLUSTER", "DISTRIBUTE":
			if !p.isAhead(1, "BY") {
				return
			}
			p.step(2)
			p.list(func() { s.Cluster = append(s.Cluster, p.expr()) })
		case "SORT":
			if !p.isAhead(1, "BY") {
				return
			}
			p.step(2)
			s.Sort = p.orderItems()
		case "CONNECT":
			p.next()
			p.take("BY")
			p.take("NOCYCLE")
			s.ConnectBy = p.expr()
		case "START":
			if !p.take("START", "WITH") {
				return
			}
			s.StartWith = p.expr()
		case "WITH":
			if !p.take("WITH", "TOTALS") && !p.take("WITH", "ROLLUP") && !p.take("WITH", "CUBE") {
				return
			}
		case "SAMPLE", "USING", "TABLESAMPLE":
			if !p.selectSample() {
				return
			}
		case "FULL", "LEFT", "INNER": // BigQuery's, before UNION … BY NAME
			n := 1
			if p.isAhead(1, "OUTER") {
				n = 2
			}
			if p.d.classes[p.ahead(n).word]&setWord == 0 {
				p.skipTo(clause, "what stands here")
				continue
			}
			p.step(n)
		case "MODEL":
			s.Model = p.model()
		default:
			if p.clausesEnd() {
				return
			}
			p.skipTo(clause, "what stands here")
		}
	}
}

// again returns the clause that begins here where the SELECT has it already.
func (p *parser) again(s *Select) string {
	had := false
	switch p.word() {
	case "FROM":
		had = s.From != nil
	case "WHERE":
		had = s.Where != nil
	case "GROUP":
		had = s.GroupBy != nil
	case "HAVING":
		had = s.Having != nil
	case "QUALIFY":
		had = s.Qualify != nil
	case "PREWHERE":
		had = s.PreWhere != nil
	case "WINDOW":
		had = s.Windows != nil
	case "CONNECT":
		had = s.ConnectBy != nil
	case "SORT":
		had = s.Sort != nil
	case "CLUSTER", "DISTRIBUTE":
		had = s.Cluster != nil
	}
	if had {
		return p.word()
	}
	return ""
}

// conjoin adds a condition to those that stand before it.
func (p *parser) conjoin(to *Expr, x Expr) {
	if *to == nil {
		*to = x
		return
	}
	*to = &Op{Span: Span{(*to).Range().Start, x.Range().End}, Op: "AND", Args: []Expr{*to, x}}
}

func (p *parser) selectSample() bool {
	if p.is("USING") && p.isAhead(1, "SAMPLE") || p.is("SAMPLE") || p.is("TABLESAMPLE") {
		p.sample()
		return true
	}
	return false
}

// clausesEnd tells whether what stands here may follow a SELECT's clauses.
func (p *parser) clausesEnd() bool {
	t := p.tok()
	switch {
	case p.ended() || p.atCloser():
		return true
	case t.kind == tSym:
		return p.op("|>") || t.ch == ','
	case t.kind != tWord:
		return false
	case p.d.classes[t.word]&(setWord) != 0:
		return true
	}
	switch p.word() {
	case "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR", "ON", "RETURNING", "INSERT", "WHEN", "END", "LOOP", "DO", "THEN", "SETTINGS",
		"FORMAT", "OPTION", "INTO", "LOG", "AS", "LOCK", "ELSE", "UNION", "OPTIMIZE", "QUERYNO", "COMMENT", "USING", "OVERWRITE":
		return true
	}
	return (p.block > 0 || p.d.NoSemicolons) && p.has(headWord) || p.freshHead()
}

// freshHead tells whether a line begins here with a word that begins a
// statement and cannot go on with one: a delimiter is missing.
func (p *parser) freshHead() bool {
	switch p.word() {
	case "SELECT", "INSERT", "CREATE", "DROP", "ALTER", "UPDATE", "DELETE", "MERGE", "WITH", "SET":
		return p.i > 0 && p.newLine()
	}
	return false
}

// selectInto reads SELECT … INTO t.
func (p *parser) selectInto(s *Select) bool {
	n := p.ahead(1)
	switch {
	case n.wordIs(p.text, "OUTFILE") || n.wordIs(p.text, "DUMPFILE"):
		return p.intoFile()
	case n.kind == tVar && p.text[n.start] == '@', n.ch == ':':
		p.next()
		p.list(func() { p.expr() })
		return true
	case n.kind != tWord && n.kind != tQuoted && n.kind != tVar:
		return false
	}
	p.next()
	if p.block > 0 && !p.d.GoLines {
		p.take("STRICT")
		p.list(func() { p.expr() }) // variables of a procedure
		return true
	}
	s.IntoTemp = p.takeOne("TEMPORARY", "TEMP")
	p.take("UNLOGGED")
	p.take("TABLE")
	s.Into = p.tableName()
	for p.eat(',') {
		p.expr()
	}
	return true
}

// groupBy reads the keys after GROUP BY; those in ROLLUP and its kin too.
func (p *parser) groupBy() *GroupBy {
	start := p.pos()
	g := &GroupBy{}
	if p.is("ALL") && !p.atAhead(1, ',') {
		p.next()
		g.All = true
		if !p.at('(') && !p.identAhead(0) || p.has(noAlias) || p.ended() || p.atCloser() {
			g.Span = p.from(start)
			return g
		}
	}
	p.take("DISTINCT")
	p.list(func() { p.groupKey(g) })
	for p.seq("GROUPING", "SETS") { // Hive: after the keys, without a comma
		p.groupKey(g)
	}
	for p.is("WITH") && (p.isAhead(1, "ROLLUP") || p.isAhead(1, "CUBE") || p.isAhead(1, "TOTALS")) {
		p.step(2)
	}
	g.Span = p.from(start)
	return g
}

func (p *parser) groupKey(g *GroupBy) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	switch {
	case (p.is("ROLLUP") || p.is("CUBE")) && p.atAhead(1, '('):
		p.next()
		p.group(func() { p.list(func() { p.groupKey(g) }) })
	case p.seq("GROUPING", "SETS"):
		p.step(2)
		p.group(func() { p.list(func() { p.groupKey(g) }) })
	case p.at('(') && p.atAhead(1, ')'):
		p.step(2)
	default:
		x := p.expr()
		if p.takeOne("ASC", "DESC") { // MySQL of old
			p.take("NULLS")
		}
		if l, ok := x.(*List); ok && l.Kind == "ROW" && p.text[l.Start] == '(' {
			for _, it := range l.Items {
				g.Keys = append(g.Keys, it.Expr)
			}
			return
		}
		g.Keys = append(g.Keys, x)
	}
}

// windows reads WINDOW w AS (…), ….
func (p *parser) windows(s *Select) {
	p.next()
	p.list(func() {
		start := p.pos()
		w := NamedWindow{Name: p.ident()}
		p.take("AS")
		w.Window = p.over()
		w.Span = p.from(start)
		s.Windows = append(s.Windows, w)
	})
}
