package syntax

// scheduled reads CREATE EVENT … DO statement, CREATE TASK … AS statement and
// their kin.
func (p *parser) scheduled(start int32, w string) Body {
	b := &Block{What: w}
	p.ifAbsent()
	if !p.is("AS") {
		b.Name = p.name()
	}
	stop := "DO"
	if w == "TASK" || w == "PIPE" {
		stop = "AS"
	}
	for !p.ended() && !p.is(stop) {
		p.skip()
	}
	if p.take(stop) {
		p.single(b)
	}
	b.Span = p.from(start)
	return b
}

// trigger reads CREATE TRIGGER; its body is a statement or a block.
func (p *parser) trigger(start int32) Body {
	b := &Block{What: "TRIGGER"}
	p.ifAbsent()
	b.Name = p.name()
	for !p.ended() && !p.broken {
		switch {
		case p.is("ON") && p.identAhead(1) && b.On == nil:
			p.next()
			b.On = p.tableName()
		case p.is("BEGIN"), p.is("DECLARE"), p.is("COMPOUND"):
			return p.routineAs(start, b, "")
		case p.is("EXECUTE"), p.is("CALL"):
			p.skipStatement()
			b.Span = p.from(start)
			return b
		case p.is("AS") && p.d.NoSemicolons:
			p.next()
			return p.routineAs(start, b, "")
		case p.is("ROW") || p.is("STATEMENT"):
			p.next()
			if p.take("WHEN") || p.take("MODE") {
				if p.at('(') {
					p.skip()
				}
			}
			if p.takeOne("FOLLOWS", "PRECEDES") {
				p.name()
			}
			if p.has(headWord) && !p.is("BEGIN") && !p.is("DECLARE") && !p.is("EXECUTE") {
				p.single(b)
				b.Span = p.from(start)
				return b
			}
		default:
			p.skip()
		}
	}
	b.Span = p.from(start)
	return b
}
