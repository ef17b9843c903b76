package syntax

// joinAhead tells whether the words here lead to JOIN or APPLY.
func (p *parser) joinAhead() bool {
	for n := range 6 {
		t := p.ahead(n)
		if t.kind != tWord || t.word == 0 {
			return false
		}
		switch w := vocabulary.words[t.word]; w {
		case "JOIN", "STRAIGHT_JOIN":
			return true
		case "APPLY":
			return n > 0 && (p.isAhead(n-1, "CROSS") || p.isAhead(n-1, "OUTER"))
		default:
			if p.d.classes[t.word]&joinWord == 0 {
				return false
			}
		}
	}
	return false
}

// joins reads the joins that follow a reference.
func (p *parser) joins(start int32, left TableRef) TableRef {
	for n := 0; !p.broken; n++ {
		if !p.has(joinWord) && !p.is("LATERAL") || !p.joinAhead() {
			if p.seq("LATERAL", "VIEW") {
				left = p.lateralView(left)
				continue
			}
			break
		}
		left = p.join(start, left)
		if n > maxChain {
			p.fail(p.from(start), "more than 5000 joins")
		}
	}
	return left
}

// join reads one join to left.
func (p *parser) join(start int32, left TableRef) TableRef {
	j := &Join{Kind: "INNER", Left: left}
	p.joinKind(j)
	if j.Kind == "ARRAY" || j.Kind == "LEFT ARRAY" {
		j.Right = p.arrayJoin()
		j.Span = p.from(start)
		return j
	}
	p.hints()
	right := p.pos()
	if p.is("FETCH") && p.identAhead(1) && p.d.Name == "ansi" {
		p.next() // JPQL's JOIN FETCH
	}
	j.Right = p.tablePrimary()
	p.hints()
	if p.seq("LATERAL", "VIEW") && p.isAhead(2, "OUTER") || p.seq("LATERAL", "VIEW") {
		j.Right = p.lateralView(j.Right)
	}
	switch j.Kind {
	case "INNER", "LEFT", "RIGHT", "FULL":
		if !j.Natural && !p.is("ON") && !p.is("USING") && !p.is("MATCH_CONDITION") && p.has(joinWord) && p.joinAhead() && p.nestedOn() {
			j.Right = p.joins(right, j.Right)
		}
	}
	if p.take("PARTITION", "BY") { // Oracle's partitioned outer join
		p.skip()
	}
	p.joinCondition(j)
	j.Span = p.from(start)
	return j
}

// nestedOn tells whether the joins that follow have one ON more than they
// need: a JOIN b JOIN c ON … ON ….
func (p *parser) nestedOn() bool {
	joins, ons := 0, 0
	for i := p.i; i < len(p.toks) && i < p.i+400; i++ {
		p.work++
		t := &p.toks[i]
		if t.mate > int32(i) {
			i = int(t.mate)
			continue
		}
		if t.ch == ')' || t.ch == ',' || t.kind == tSemi || t.kind == tEnd {
			break
		}
		switch {
		case t.wordIs(p.text, "JOIN"):
			joins++
		case t.wordIs(p.text, "ON") || t.wordIs(p.text, "USING"):
			ons++
			if ons > joins {
				return true
			}
		case p.d.classes[t.word]&(clause|joinWord) == clause:
			return false
		}
	}
	return false
}

// joinKind reads the words up to JOIN.
func (p *parser) joinKind(j *Join) {
	side, special := "", ""
	for !p.ended() {
		w := p.word()
		p.next()
		switch w {
		case "JOIN":
			j.Kind = joinName(side, special)
			return
		case "STRAIGHT_JOIN":
			return
		case "APPLY":
			j.Kind = "APPLY"
			if side == "OUTER" {
				j.Kind = "OUTER APPLY"
			}
			return
		case "NATURAL":
			j.Natural = true
		case "ASOF":
			j.Asof = true
		case "LEFT", "RIGHT", "FULL", "CROSS":
			side = w
		case "OUTER":
			if side == "" {
				side = "OUTER"
			}
		case "SEMI", "ANTI", "ARRAY":
			special = w
		}
	}
}

func joinName(side, special string) string {
	switch special {
	case "SEMI", "ANTI":
		if side == "RIGHT" {
			if special == "SEMI" {
				return "RIGHT SEMI"
			}
			return "RIGHT ANTI"
		}
		return special
	case "ARRAY":
		if side == "LEFT" {
			return "LEFT ARRAY"
		}
		return "ARRAY"
	}
	switch side {
	case "":
		return "INNER"
	case "OUTER":
		return "FULL"
	}
	return side
}

func (p *parser) joinCondition(j *Join) {
	if p.is("MATCH_CONDITION") && p.atAhead(1, '(') { // Snowflake's ASOF
		p.next()
		j.Asof = true
		p.group(func() { p.conjoin(&j.On, p.expr()) })
	}
	switch {
	case p.is("ON") && !p.isAhead(1, "CONFLICT") && !p.isAhead(1, "DUPLICATE"):
		p.next()
		p.conjoin(&j.On, p.expr())
	case p.is("USING") && !p.isAhead(1, "SAMPLE"):
		p.next()
		p.names(func(id Ident) { j.Using = append(j.Using, id) })
		for p.at(',') && p.d.BareStar && p.identAhead(1) {
			p.next()
			j.Using = append(j.Using, p.ident())
		}
		if p.is("AS") && p.identAhead(1) { // PostgreSQL's join alias
			p.step(2)
		}
	}
}

// arrayJoin reads the items of ClickHouse's ARRAY JOIN.
func (p *parser) arrayJoin() TableRef {
	start := p.pos()
	a := &ArrayJoin{}
	p.list(func() { a.Items = append(a.Items, p.selectItem()) })
	a.Span = p.from(start)
	return a
}

// lateralView reads LATERAL VIEW [OUTER] f(…) t AS a, b over source.
func (p *parser) lateralView(source TableRef) TableRef {
	p.step(2)
	v := &LateralView{Source: source, Outer: p.take("OUTER")}
	n := p.name()
	if len(n.Parts) == 0 || !p.at('(') {
		p.warn(Span{p.pos(), p.tok().end}, "LATERAL VIEW without a function")
		v.Call = &Call{Span: n.Span, Name: n, Func: funcName(n)}
	} else if c, ok := p.call(n).(*Call); ok {
		v.Call = c
	}
	start := p.pos()
	if p.bareAlias() && !p.is("AS") && !p.joinAhead() {
		v.Alias.Name = p.ident()
	}
	if p.take("AS") {
		cols := func() { v.Alias.Columns = append(v.Alias.Columns, p.ident()) }
		if !p.group(func() { p.list(cols) }) {
			cols()
			for p.at(',') && p.identAhead(1) && !p.isAhead(1, "LATERAL") && p.lateralColumn() {
				p.next()
				cols()
			}
		}
	}
	v.Alias.Span = p.from(start)
	v.Span = p.from(source.Range().Start)
	return v
}

// lateralColumn tells whether the name after the comma here is one more
// column, not one more table.
func (p *parser) lateralColumn() bool {
	n := p.ahead(2)
	if n.kind == tWord {
		c := p.d.classes[n.word]
		return c&(clause|noAlias|setWord) != 0 && !p.isAhead(2, "AS")
	}
	return n.kind != tQuoted && n.ch != '.' && n.ch != '('
}
