package syntax

// intervalUnit tells a unit of time in its singular, plural or short form.
func intervalUnit(w string) bool {
	switch w {
	case "YEAR", "YEARS", "QUARTER", "QUARTERS", "MONTH", "MONTHS", "WEEK", "WEEKS", "DAY", "DAYS", "HOUR", "HOURS",
		"MINUTE", "MINUTES", "SECOND", "SECONDS", "MILLISECOND", "MILLISECONDS", "MICROSECOND", "MICROSECONDS",
		"NANOSECOND", "NANOSECONDS", "YEAR_MONTH", "DAY_HOUR", "DAY_MINUTE", "DAY_SECOND", "DAY_MICROSECOND",
		"HOUR_MINUTE", "HOUR_SECOND", "HOUR_MICROSECOND", "MINUTE_SECOND", "MINUTE_MICROSECOND", "SECOND_MICROSECOND",
		"DAYOFWEEK", "DAYOFYEAR", "ISOWEEK", "ISOYEAR", "DECADE", "CENTURY", "EPOCH", "D", "H", "M", "S", "Y", "MS", "US":
		return true
	}
	return false
}

// intervalUnits reads DAY, DAY(3) TO SECOND(2).
func (p *parser) intervalUnits() {
	if !intervalUnit(p.word()) {
		return
	}
	p.next()
	if p.at('(') && int(p.tok().mate) <= p.i+3 {
		p.skip()
	}
	if p.is("TO") && intervalUnit(p.wordAhead(1)) {
		p.step(2)
		if p.at('(') && int(p.tok().mate) <= p.i+3 {
			p.skip()
		}
	}
}

// interval reads INTERVAL '1' DAY, INTERVAL 1 DAY, INTERVAL '1 day',
// INTERVAL (x) HOUR, INTERVAL x DAY; nil where INTERVAL is a name.
func (p *parser) interval() Expr {
	start := p.pos()
	n := p.ahead(1)
	if n.ch == '(' && n.mate != 0 && !intervalUnit(vocabWord(p, int(n.mate)+1)) {
		return nil // a function
	}
	switch {
	case n.kind == tString, n.kind == tNumber, n.kind == tVar, n.ch == '(', n.ch == '-', n.ch == '+', n.ch == '?', n.ch == ':':
	case n.kind == tWord && p.d.classes[n.word]&(noExpr|noAlias|infixWord) == 0, n.kind == tQuoted:
	default:
		return nil
	}
	p.next()
	var x Expr
	if t := p.tok(); t.kind == tString {
		l := p.str()
		l.Kind = "INTERVAL"
		p.intervalUnits()
		l.Span = p.from(start)
		return l
	} else if t.kind == tNumber && p.ahead(1).kind == tWord || t.kind == tNumber && p.ahead(1).kind == tVar {
		l := &Literal{Kind: "INTERVAL", Value: p.textOf(t)}
		p.next()
		p.intervalUnits()
		for (p.tok().kind == tNumber || p.tok().kind == tString) && intervalUnit(p.wordAhead(1)) { // 1 DAY 2 HOURS
			p.next()
			p.intervalUnits()
		}
		l.Span = p.from(start)
		return l
	}
	x = p.climb(precOther)
	p.intervalUnits()
	for (p.tok().kind == tNumber || p.tok().kind == tString || (p.at('-') || p.at('+')) && p.ahead(1).kind == tNumber) && intervalUnit(p.wordAhead(1)) { // 1 DAY 2 HOURS
		p.next()
		p.intervalUnits()
	}
	if _, ok := x.(*Literal); ok {
		return &Literal{Span: p.from(start), Kind: "INTERVAL", Value: x.Range().In(p.text)}
	}
	return &Op{Span: p.from(start), Op: "INTERVAL", Args: []Expr{x}}
}

// vocabWord returns the upper case word of the token with index i.
func vocabWord(p *parser, i int) string { return p.wordAhead(i - p.i) }
