package syntax

import "strings"

// typ reads a type. Where none stands here it returns nil without a warning.
func (p *parser) typ() *Type {
	start := p.pos()
	if !p.enter() {
		p.leave()
		return nil
	}
	defer p.leave()
	if !p.identAhead(0) && p.tok().kind != tString {
		return nil
	}
	t := &Type{}
	n := p.name()
	if len(n.Parts) == 0 {
		t.Name = p.str().Value
	} else if len(n.Parts) == 1 {
		t.Name = strings.ToUpper(n.Parts[0].Text)
	} else {
		t.Name = strings.ToUpper(n.In(p.text))
	}
	p.typeWords(t)
	p.typeArgs(t)
	for !p.broken {
		switch {
		case p.at('[') && p.tok().mate != 0 && p.tok().mate <= int32(p.i+2):
			p.skip()
			t = &Type{Span: p.from(start), Name: "ARRAY", Args: []*Type{t}}
			t.Args[0].Span = t.Span
			t.Args[0].End = max(start, p.toks[p.i-1].start-1)
			for !strings.HasPrefix(p.text[t.Args[0].End:], "[") && t.Args[0].End > start {
				t.Args[0].End--
			}
		case p.is("ARRAY") && !p.atAhead(1, '(') && !p.isAhead(1, "JOIN"):
			t.Span = p.from(start)
			p.next()
			t = &Type{Span: p.from(start), Name: "ARRAY", Args: []*Type{t}}
		case p.takeOne("UNSIGNED", "SIGNED", "ZEROFILL", "VARYING", "MULTISET"):
		case p.take("PRECISION"):
		case p.take("WITH", "TIME", "ZONE"), p.take("WITHOUT", "TIME", "ZONE"), p.take("WITH", "LOCAL", "TIME", "ZONE"),
			p.take("WITH_TIME_ZONE"), p.take("WITH_LOCAL_TIMEZONE"), p.take("FOR", "BIT", "DATA"), p.take("WITHOUT", "SIGN"):
		case p.take("CHARACTER", "SET"), p.take("CHARSET"), p.take("CHARACTER", "VARYING"):
			if p.tok().kind == tWord || p.tok().kind == tString {
				p.next()
			}
		case t.Name == "INTERVAL" && intervalUnit(p.word()):
			p.intervalUnits()
		case p.at('%') && (p.isAhead(1, "TYPE") || p.isAhead(1, "ROWTYPE")):
			p.step(2)
		default:
			t.Span = p.from(start)
			return t
		}
	}
	t.Span = p.from(start)
	return t
}

// typeWords reads the further words of a type's name.
func (p *parser) typeWords(t *Type) {
	join := func() {
		t.Name += " " + p.word()
		p.next()
	}
	switch t.Name {
	case "DOUBLE":
		if p.is("PRECISION") {
			join()
		}
	case "LONG":
		if p.is("RAW") || p.is("VARCHAR") || p.is("VARBINARY") || p.is("BYTE") {
			join()
		}
	case "CHARACTER", "CHAR", "BIT", "NCHAR", "BINARY":
		if p.is("VARYING") || p.is("LARGE") || p.is("BYTE") {
			join()
		}
		if p.is("OBJECT") {
			join()
		}
	case "UNSIGNED", "SIGNED":
		if p.is("INT") || p.is("INTEGER") || p.is("BIGINT") {
			join()
		}
	case "NATIONAL":
		join()
		if p.is("VARYING") {
			join()
		}
	case "SETOF", "REF":
		join()
	case "TIMESTAMP", "TIME":
		if p.is("WITH") && p.isAhead(1, "TIME") {
			t.Name = "TIMESTAMP WITH TIME ZONE"[:len(t.Name)] + " WITH TIME ZONE"
		}
	}
}

// typeArgs reads a type's arguments in <> or ().
func (p *parser) typeArgs(t *Type) {
	open := p.i
	switch {
	case p.at('<') || p.op("<>"):
		if p.eatOp("<>") {
			return
		}
		p.next()
		p.elements(t, '>')
		if !p.eat('>') {
			p.warn(Span{p.toks[open].start, p.last()}, "a type's < is not closed")
		}
	case p.at('(') && p.tok().mate != 0:
		switch t.Name {
		case "ROW", "STRUCT", "NESTED", "TUPLE", "OBJECT", "ARRAY", "MAP", "NULLABLE", "LOWCARDINALITY", "LIST", "MULTISET", "UNION":
			p.next()
			p.elements(t, ')')
			p.want(open, ')')
		default:
			p.skip()
		}
	}
}

// elements reads element types or fields up to the closing byte.
func (p *parser) elements(t *Type, closer byte) {
	for !p.at(closer) && !p.ended() && !p.atCloser() {
		i := p.i
		if p.fieldAhead(t.Name) {
			t.Fields = append(t.Fields, p.fieldDef())
		} else if a := p.typ(); a != nil {
			t.Args = append(t.Args, a)
			p.elementTail()
		} else if p.tok().kind == tNumber {
			p.next()
		}
		if !p.eat(',') && (p.i == i || !p.at(closer)) {
			return
		}
	}
}

func (p *parser) elementTail() {
	p.take("NOT", "NULL")
	p.take("NULL")
}

// fieldAhead tells whether a name and a type stand here, not a type alone.
func (p *parser) fieldAhead(name string) bool {
	switch name {
	case "ROW", "STRUCT", "NESTED", "TUPLE", "OBJECT", "UNION":
	default:
		return false
	}
	if !p.identAhead(0) {
		return false
	}
	n := p.ahead(1)
	switch {
	case n.ch == ':' || n.kind == tQuoted:
		return true
	case n.kind == tWord:
		switch p.wordAhead(1) {
		case "PRECISION", "VARYING", "WITH", "WITHOUT", "NOT", "UNSIGNED":
			return false
		}
		return true
	}
	return false
}

func (p *parser) fieldDef() ColumnDef {
	start := p.pos()
	id := p.ident()
	c := ColumnDef{Name: Name{Span: id.Span, Parts: []Ident{id}}}
	p.eat(':')
	c.Type = p.typ()
	for !p.broken {
		switch {
		case p.take("NOT", "NULL"), p.take("NULL"):
		case p.is("COMMENT") && p.ahead(1).kind == tString:
			p.next()
			c.Comment = p.str().Value
		case p.is("COLLATE"):
			p.next()
			p.next()
		case p.is("OPTIONS") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.tok().kind == tString:
			c.Comment = p.str().Value
		case p.take("DEFAULT"):
			p.expr()
		default:
			c.Span = p.from(start)
			return c
		}
	}
	c.Span = p.from(start)
	return c
}
