package syntax

// namedRef reads a table or a function by name.
func (p *parser) namedRef(start int32, lateral bool) TableRef {
	only := p.is("ONLY") && p.identAhead(1) && !p.has(noAlias)
	if only {
		p.next()
	}
	t := p.tableName()
	if p.at('(') && !t.Stage && p.functionAhead() {
		return p.tableFunc(start, t.Name, lateral)
	}
	p.tableTail(t)
	t.Span = p.from(start)
	if p.seq("WITH", "OFFSET") { // BigQuery's path of an array
		call := &Call{Span: t.Name.Span, Func: "UNNEST", Args: []Expr{&Ref{t.Name}}}
		f := &TableFunc{Call: call, Alias: t.Alias}
		p.funcTail(start, f)
		return f
	}
	return t
}

// functionAhead tells a table function's arguments from a hint such as
// (NOLOCK).
func (p *parser) functionAhead() bool {
	return !(p.d.NoSemicolons && p.isAhead(1, "NOLOCK"))
}

// tableName reads the name of a table.
func (p *parser) tableName() *Table {
	start := p.pos()
	t := &Table{}
	switch k := p.tok(); {
	case k.kind == tStage:
		return p.stage()
	case k.kind == tString && !p.identAhead(0) && p.text[k.start] != '"':
		return p.pathTable()
	case p.at('.') && p.atAhead(1, '.') && p.identAhead(2): // tsql's ..t
		p.step(2)
	case p.at('{') && p.d.Ternary && int(k.mate) > p.i: // ClickHouse's {t:Identifier}
		p.i = int(k.mate) + 1
		t.Span = p.from(start)
		t.Name = Name{Span: t.Span, Parts: []Ident{{Span: t.Span, Text: t.Span.In(p.text)}}}
		return t
	case (p.is("IDENTIFIER") || p.is("TABLE")) && p.atAhead(1, '('):
		p.next()
		p.next()
		if p.tok().kind == tString {
			id := p.ident()
			t.Name = Name{Span: id.Span, Parts: []Ident{id}}
		} else {
			t.Name = p.name()
		}
		for !p.ended() && !p.at(')') {
			p.skip()
		}
		p.next()
		t.Span = p.from(start)
		return t
	case !p.identAhead(0) && k.kind != tString:
		p.warn(Span{start, p.tok().end}, "a table's name is missing")
		t.Span = p.from(start)
		return t
	}
	if k := p.tok(); k.kind == tString && !p.identAhead(0) { // MySQL with ANSI_QUOTES
		id := p.ident()
		t.Name = Name{Span: id.Span, Parts: []Ident{id}}
	} else {
		t.Name = p.name()
	}
	if p.d.DashNames {
		p.dashes(t)
	}
	if p.d.SplitQuoted {
		p.splitQuoted(t)
	}
	if n := len(t.Name.Parts); n > 0 && p.at('@') && p.identAhead(1) && p.last() == p.pos() && p.ahead(1).start == p.tok().end { // Oracle's t@link is the name
		p.next()
		link := p.name()
		last := &t.Name.Parts[n-1]
		last.Text += "@" + link.In(p.text)
		last.End = link.End
		t.Name.End = link.End
	}
	t.Span = p.from(start)
	return t
}

// dashes joins a-b.c into one name.
func (p *parser) dashes(t *Table) {
	for p.at('-') && p.last() == p.pos() && (p.ahead(1).kind == tWord || p.ahead(1).kind == tNumber) && p.ahead(1).start == p.tok().end {
		p.next()
		last := &t.Name.Parts[len(t.Name.Parts)-1]
		rest, _ := p.path()
		last.End = rest.Parts[0].End
		last.Text = last.In(p.text)
		t.Name.Parts = append(t.Name.Parts, rest.Parts[1:]...)
		t.Name.End = rest.End
	}
}

// splitQuoted cuts `a.b.c` into its parts.
func (p *parser) splitQuoted(t *Table) {
	parts := t.Name.Parts
	if len(parts) == 0 {
		return
	}
	id := parts[0]
	dotted := false
	for i := range len(id.Text) {
		dotted = dotted || id.Text[i] == '.'
	}
	if !id.Quoted || !dotted || int(id.End-id.Start) != len(id.Text)+2 {
		return
	}
	var cut []Ident
	from := 0
	for i := 0; i <= len(id.Text); i++ {
		if i == len(id.Text) || id.Text[i] == '.' {
			at := id.Start + 1
			cut = append(cut, Ident{Span: Span{at + int32(from), at + int32(i)}, Text: id.Text[from:i], Quoted: true})
			from = i + 1
		}
	}
	t.Name.Parts = append(cut, parts[1:]...)
}

// tableVersion reads which version of a table is meant.
func (p *parser) tableVersion(t *Table) {
	switch {
	case p.is("FOR"):
		p.forVersion(t)
	case p.isAhead(1, "AS") && p.isAhead(2, "OF"):
		p.step(3)
		t.Temporal = p.climb(precOther)
	case p.atAhead(1, '('):
		p.next()
		p.group(func() {
			p.name()
			p.eatOp("=>")
			t.Temporal = p.expr()
		})
	}
}

// tableTail reads what may follow a table's name: versions, partitions,
// samples, hints and the alias, in any order.
func (p *parser) tableTail(t *Table) {
	for !p.broken {
		switch p.word() {
		case "":
			if p.at('*') && p.d.CustomOperators && p.last() != 0 { // t *
				p.next()
				continue
			}
			if p.at('[') && p.tok().mate != 0 { // Doris's hints
				p.skip()
				continue
			}
			if p.at('(') && p.d.NoSemicolons {
				p.skip()
				continue
			}
			if !p.bareAlias() && p.tok().kind != tString || t.Alias.End > 0 {
				return
			}
			if !p.alias(&t.Alias, true) {
				return
			}
		case "FOR":
			if !p.forVersion(t) {
				return
			}
		case "VERSION", "TIMESTAMP":
			if !p.isAhead(1, "AS") || !p.isAhead(2, "OF") {
				if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
				continue
			}
			p.tableVersion(t)
		case "AT", "BEFORE":
			if !p.atAhead(1, '(') {
				if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
				continue
			}
			p.tableVersion(t)
		case "PROCEDURE":
			if p.isAhead(1, "ANALYSE") || t.Alias.End > 0 || !p.alias(&t.Alias, true) {
				return
			}
		case "VERSIONS": // Oracle's
			if !p.isAhead(1, "BETWEEN") || t.Alias.End > 0 {
				if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
				continue
			}
			p.step(2)
			p.takeOne("SCN", "TIMESTAMP")
			t.Temporal = p.climb(precOther)
			if p.take("AND") {
				p.climb(precOther)
			}
		case "CHANGES":
			if !p.atAhead(1, '(') || t.Alias.Name.Text != "" {
				return
			}
			p.next()
			p.skip()
		case "AS":
			if p.isAhead(1, "OF") {
				p.step(2)
				if !p.take("SYSTEM", "TIME") {
					p.takeOne("TIMESTAMP", "SCN", "SNAPSHOT")
				}
				t.Temporal = p.climb(precOther)
				continue
			}
			if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
				return
			}
		case "PARTITION", "SUBPARTITION", "PARTITIONS", "TEMPORARY", "TABLET":
			if p.seq("PARTITION", "BY") {
				return // a join's
			}
			if !p.tablePartitions(t) {
				if p.has(noAlias) || t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
			}
		case "FINAL":
			if !p.d.Final {
				if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
				continue
			}
			p.next()
		case "WITH":
			if !p.atAhead(1, '(') || p.queryAt(p.i+1) {
				return
			}
			p.next()
			p.skip()
		case "USE", "FORCE", "IGNORE":
			if !p.isAhead(1, "INDEX") && !p.isAhead(1, "KEY") {
				return
			}
			for !p.at('(') && !p.ended() && !p.atCloser() {
				p.next()
			}
			p.skip()
		case "INDEXED":
			if !p.isAhead(1, "BY") {
				if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
				continue
			}
			p.step(2)
			p.name()
		case "NOT":
			if !p.take("NOT", "INDEXED") {
				return
			}
		case "TABLESAMPLE":
			t.Sample = p.sample()
		case "SAMPLE":
			if !p.sampleAhead() {
				if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
					return
				}
				continue
			}
			t.Sample = p.sample()
		default:
			if t.Alias.End > 0 || !p.alias(&t.Alias, true) {
				return
			}
		}
	}
}

// forVersion reads FOR SYSTEM_TIME AS OF e and its kin.
func (p *parser) forVersion(t *Table) bool {
	switch p.wordAhead(1) {
	case "SYSTEM_TIME", "VERSION", "TIMESTAMP", "SYSTEM_VERSION", "BUSINESS_TIME":
	default:
		return false
	}
	p.step(2)
	switch {
	case p.take("AS", "OF"):
		p.take("TIMESTAMP")
		t.Temporal = p.climb(precOther)
	case p.take("ALL"):
	case p.take("FROM"):
		t.Temporal = p.climb(precOther)
		if p.take("TO") {
			p.climb(precOther)
		}
	case p.take("BETWEEN"):
		t.Temporal = p.climb(precOther)
		if p.take("AND") {
			p.climb(precOther)
		}
	case p.take("CONTAINED", "IN"):
		p.skip()
	}
	return true
}

// tablePartitions reads PARTITION (p1, p2), PARTITION (dt = '…'), PARTITION p.
func (p *parser) tablePartitions(t *Table) bool {
	p.take("TEMPORARY")
	switch {
	case (p.is("PARTITION") || p.is("PARTITIONS")) && p.atAhead(1, '('):
		p.next()
		if p.isAhead(1, "FOR") {
			p.skip()
			return true
		}
		t.Partition = p.partitionSpec()
	case p.is("PARTITION") && p.isAhead(1, "FOR") && p.atAhead(2, '('):
		p.step(2)
		p.skip()
	case p.is("SUBPARTITION") && p.atAhead(1, '('), p.is("TABLET") && p.atAhead(1, '('):
		p.next()
		p.skip()
	case p.is("PARTITION") && p.identAhead(1) && !p.has(headWord) && p.d.Name != "hive":
		p.next()
		id := p.ident()
		t.Partition = append(t.Partition, PartitionItem{Span: id.Span, Column: Name{Span: id.Span, Parts: []Ident{id}}})
	default:
		return false
	}
	return true
}
