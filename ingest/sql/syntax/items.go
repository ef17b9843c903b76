package syntax

// selectList reads what stands between SELECT and FROM.
func (p *parser) selectList(s *Select) {
	p.selectModifiers(s)
	if p.is("TRANSFORM") && p.atAhead(1, '(') && p.transformAhead() || p.mapReduce() {
		s.Transform = p.transform()
		return
	}
	if p.is("FROM") && !p.atAhead(1, ',') || p.is("INTO") || p.ended() || p.atCloser() {
		return
	}
	s.Items = make([]SelectItem, 0, 4)
	p.list(func() {
		if p.is("FROM") && len(s.Items) > 0 {
			return
		}
		s.Items = append(s.Items, p.selectItem())
	})
}

func (p *parser) selectModifiers(s *Select) {
	for {
		switch {
		case p.is("DISTINCT") && !p.atAhead(1, ','), p.is("DISTINCTROW"), p.is("UNIQUE") && p.identAhead(1) && !p.isAhead(1, "FROM"):
			p.next()
			s.Distinct = true
			if p.is("ON") && p.atAhead(1, '(') {
				p.next()
				p.group(func() { p.list(func() { s.DistinctOn = append(s.DistinctOn, p.expr()) }) })
			}
		case p.is("ALL") && !p.atAhead(1, ',') && !p.atAhead(1, '('):
			p.next()
		case p.is("AS") && (p.isAhead(1, "STRUCT") || p.isAhead(1, "VALUE")):
			p.next()
			s.AsStruct = p.is("STRUCT")
			p.next()
		case p.is("TOP") && (p.ahead(1).kind == tNumber || p.atAhead(1, '(') || p.ahead(1).kind == tVar):
			p.next()
			s.Top = p.primary()
			p.take("PERCENT")
			p.take("WITH", "TIES")
		case (p.is("SKIP") || p.is("FIRST") || p.is("LIMIT")) && p.ahead(1).kind == tNumber && (p.ahead(2).kind != tSym || p.atAhead(2, '*')): // Informix
			p.step(2)
		case p.d.Delimiters && (p.is("SQL_NO_CACHE") || p.is("SQL_CACHE") || p.is("SQL_CALC_FOUND_ROWS") || p.is("HIGH_PRIORITY") ||
			p.is("STRAIGHT_JOIN") || p.is("SQL_SMALL_RESULT") || p.is("SQL_BIG_RESULT") || p.is("SQL_BUFFER_RESULT")):
			p.next()
		case p.is("STREAM") && !p.atAhead(1, ',') && !p.atAhead(1, '.') && !p.isAhead(1, "FROM") && p.d.Name == "flink":
			p.next()
		case p.is("WITH") && (p.isAhead(1, "DIFFERENTIAL_PRIVACY") || p.isAhead(1, "ANONYMIZATION")):
			p.step(2)
			p.take("OPTIONS")
			p.skip()
		default:
			return
		}
	}
}

// selectItem reads one item with its alias.
func (p *parser) selectItem() SelectItem {
	start := p.pos()
	x := SelectItem{}
	if p.aliasFirst() { // tsql's a = e, DuckDB's a: e
		x.Alias = p.ident()
		p.next()
		x.Expr = p.expr()
		x.Span = p.from(start)
		return x
	}
	x.Expr = p.expr()
	p.itemAlias(&x)
	x.Span = p.from(start)
	return x
}

func (p *parser) aliasFirst() bool {
	if !p.identAhead(0) || p.tok().kind == tVar {
		return false
	}
	if c := p.d.AliasFirst; c != 0 {
		return p.atAhead(1, c)
	}
	return false
}

func (p *parser) itemAlias(x *SelectItem) {
	if p.take("AS") {
		switch {
		case p.at('('):
			p.group(func() { p.list(func() { x.Aliases = append(x.Aliases, p.aliasIdent()) }) })
		case p.identAhead(0) || p.tok().kind == tString:
			x.Alias = p.ident()
		case p.at(':') && p.identAhead(1): // a variable names it
			p.next()
			x.Alias = p.ident()
		default:
			p.warn(Span{p.pos(), p.tok().end}, "AS without a name")
		}
		return
	}
	if p.bareAlias() || p.tok().kind == tString {
		x.Alias = p.ident()
	}
}

// aliasIdent reads a name in a list of aliases; a type after it is let go.
func (p *parser) aliasIdent() Ident {
	id := p.ident()
	if !p.at(',') && !p.at(')') {
		p.typ()
	}
	return id
}

// bareAlias tells whether the token can be an alias without AS before it.
func (p *parser) bareAlias() bool {
	t := p.tok()
	switch t.kind {
	case tQuoted:
		return true
	case tVar:
		return p.text[t.start] == '$' || p.text[t.start] == '{'
	case tWord:
	default:
		return false
	}
	if t.word == 0 {
		return true
	}
	if p.d.classes[t.word]&noAlias == 0 {
		switch vocabulary.words[t.word] {
		case "WITHIN", "FILTER", "OVER":
			return !p.atAhead(1, '(')
		case "SETTINGS", "RENAME", "EXPLAIN":
			return true
		case "TO":
			return p.ahead(1).kind == tSym || p.isAhead(1, "FROM")
		case "LOG":
			return !p.isAhead(1, "ERRORS")
		case "LOCK":
			return !p.isAhead(1, "IN")
		case "MAP", "REDUCE":
			return !p.mapReduce()
		}
		if p.d.NoSemicolons && p.d.classes[t.word]&headWord != 0 {
			return p.atAhead(1, ',') || p.isAhead(1, "FROM")
		}
		return true
	}
	switch vocabulary.words[t.word] {
	case "DO", "LOOP", "WHILE", "UNTIL":
		return p.block == 0 && !p.atAhead(1, '(')
	case "START":
		return !p.isAhead(1, "WITH")
	case "CONNECT":
		return !p.isAhead(1, "BY")
	case "LEFT", "RIGHT", "FULL", "ANTI", "SEMI", "ASOF", "GLOBAL", "OUTER":
		return p.d.Name == "ansi" && (p.atAhead(1, ',') || p.isAhead(1, "FROM"))
	case "ROWS", "IGNORE", "FORCE", "USE", "HINT", "MODEL", "ESCAPE", "OVERWRITE", "REGEXP", "XOR", "DIV", "MATCH_RECOGNIZE", "PARTITION",
		"OFFSET", "WINDOW", "QUALIFY", "PIVOT", "UNPIVOT", "SORT", "DISTRIBUTE", "CLUSTER", "FOR":
		return p.atAhead(1, ',') || p.isAhead(1, "FROM") && !p.is("FOR")
	case "VALUES", "FINAL", "SAMPLE", "FORMAT", "ARRAY", "OPTION":
		return p.atAhead(1, ',') || p.isAhead(1, "FROM")
	}
	return false
}
