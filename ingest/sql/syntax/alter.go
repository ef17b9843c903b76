package syntax

import "strings"

// alter reads ALTER TABLE and ALTER VIEW; others are known and change no rows.
func (p *parser) alter(start int32) Body {
	p.next()
	a := &Alter{}
	p.takeOne("OR", "ICEBERG", "FOREIGN", "EXTERNAL", "ONLINE", "OFFLINE", "IGNORE", "STREAMING", "ROW", "COLUMN")
	switch {
	case p.take("TABLE"), p.take("TABLES"):
		a.Object = "TABLE"
	case p.take("MATERIALIZED", "VIEW"), p.take("MATERIALIZED", "TABLE"):
		a.Object = "MATERIALIZED VIEW"
	case p.take("DYNAMIC", "TABLE"):
		a.Object = "DYNAMIC TABLE"
	case p.is("VIEW"), (p.is("ALGORITHM") || p.is("DEFINER") || p.is("SQL")) && p.viewAttributes():
		p.next()
		a.Object = "VIEW"
	case p.is("FUNCTION"), p.is("PROCEDURE"), p.is("PROC"), p.is("TRIGGER"):
		if x := p.createRoutine(start, p.word()); x != nil {
			return x
		}
		return p.known(start, "ALTER")
	default:
		if !alterObject(p.word()) {
			return p.other(start)
		}
		return p.known(start, "ALTER")
	}
	if p.seq("ALL", "IN", "TABLESPACE") {
		return p.known(start, "ALTER")
	}
	p.take("IF", "EXISTS")
	p.take("ONLY")
	p.take("IF", "EXISTS")
	a.Table = p.tableName()
	p.take("ON", "CLUSTER")
	p.list(func() {
		if n := len(a.Actions); n > 0 && a.Actions[n-1].Verb == "OTHER" && !p.actionAhead() {
			p.skipInside() // one more partition, index, property
			a.Actions[n-1].Span = p.from(a.Actions[n-1].Start)
			return
		}
		if n := len(a.Actions); n > 0 && a.Actions[n-1].Verb == "ADD COLUMN" && !p.actionAhead() && p.identAhead(0) && p.identAhead(1) {
			p.columnDefs(&a.Actions[n-1]) // one more column
			a.Actions[n-1].Span = p.from(a.Actions[n-1].Start)
			return
		}
		for !p.ended() && !p.at(',') && !p.broken && !(p.block > 0 && p.blockEnd()) && !(len(a.Actions) > 0 && p.anotherFollows()) {
			i := p.i
			p.alterAction(a)
			if p.i == i {
				p.skipTo(0, "an action of ALTER")
				return
			}
		}
	})
	a.Span = p.from(start)
	return a
}

// actionAhead tells whether a word stands here that begins an action.
func (p *parser) actionAhead() bool {
	switch w := p.word(); w {
	case "RENAME", "SWAP", "EXCHANGE", "REPLACE", "ADD", "DROP", "CHANGE", "MODIFY", "ALTER", "SET", "PARTITION", "MOVE", "ATTACH":
		return true
	default:
		return alterWords[w]
	}
}

func (p *parser) viewAttributes() bool {
	for p.viewAttribute() {
	}
	return p.is("VIEW")
}

// alterObject tells the objects that ALTER may change and that hold no rows.
func alterObject(w string) bool {
	return createObject(w) || w == "SESSION" || w == "SYSTEM" || w == "DEFAULT" || w == "LARGE" || w == "INSTANCE" || w == "ACCOUNT"
}

// alterAction reads one action, or the beginning of one that other actions
// follow without a comma.
func (p *parser) alterAction(a *Alter) {
	start := p.pos()
	act := AlterAction{Verb: "OTHER"}
	p.references = nil
	w := p.word()
	switch w {
	case "RENAME":
		p.alterRename(&act)
	case "SWAP":
		p.next()
		p.take("WITH")
		act.Verb, act.To = "SWAP", p.tableName()
	case "EXCHANGE":
		p.alterExchange(&act)
	case "SWITCH": // tsql
		p.next()
		if p.take("PARTITION") {
			p.expr()
		}
		p.take("TO")
		act.Verb, act.To = "EXCHANGE", p.tableName()
		if !p.ended() && !p.anotherFollows() {
			p.skipAction()
		}
	case "REPLACE":
		p.alterReplace(&act)
	case "ADD":
		p.next()
		p.alterAdd(&act)
	case "DROP":
		p.next()
		p.alterDrop(&act)
	case "CHANGE":
		p.next()
		p.take("COLUMN")
		p.take("IF", "EXISTS")
		act.Verb, act.Renamed = "CHANGE COLUMN", p.ident()
		if p.at('.') {
			p.next()
			act.Renamed = p.ident()
		}
		if p.takeOne("COMMENT", "TYPE", "FIRST", "AFTER") { // Spark's, without a new name
			act.Verb = "OTHER"
			p.skipInside()
			break
		}
		act.Columns = []ColumnDef{p.columnDef()}
		p.columnPlace()
	case "MODIFY", "ALTER":
		p.next()
		act.Verb = "OTHER"
		p.skipAction()
	case "SET":
		if p.take("SET", "LOCATION") {
			act.Verb, act.Location = "SET LOCATION", p.value()
			break
		}
		if p.take("SET", "TABLES") {
			p.skipAction()
			break
		}
		p.skipAction()
	case "PARTITION":
		p.next()
		if p.is("BY") || p.is("COLUMN") { // MySQL, Hive
			p.skipAction()
			break
		}
		act.Partition = p.partitionSpec()
		if p.take("RENAME", "TO") {
			p.take("PARTITION")
			p.partitionSpec()
			break
		}
		if p.take("SET", "LOCATION") {
			act.Verb, act.Location = "SET LOCATION", p.value()
			break
		}
		if p.take("SET") || p.is("CHANGE") || p.is("COMPACT") || p.is("CONCATENATE") || p.is("ADD") || p.is("DROP") || p.is("REPLACE") {
			p.skipAction()
		}
	case "AS":
		p.next()
		act.Verb, act.Query = "AS", p.query()
	case "FROM", "SELECT", "WITH":
		if p.queryHead(p.i) && a.Object != "TABLE" {
			act.Verb, act.Query = "AS", p.query()
			break
		}
		p.skipAction()
	case "MOVE":
		p.next()
		if (p.is("PARTITION") || p.is("PART")) && !p.atAhead(1, '=') {
			for !p.ended() && !p.is("TO") && !p.at(',') {
				p.skip()
			}
			if p.take("TO", "TABLE") {
				act.Verb, act.To = "EXCHANGE", p.tableName()
				break
			}
		}
		p.skipAction()
	case "ATTACH":
		p.next()
		if p.take("PARTITION") {
			if p.identAhead(0) && !p.is("ID") {
				act.To = p.tableName()
			}
		}
		p.skipAction()
	default:
		if w == "" && !p.at('(') && p.tok().kind != tVar || !alterWords[w] && w != "" {
			return
		}
		p.skipAction()
	}
	act.Span = p.from(start)
	act.References, p.references = p.references, nil
	a.Actions = append(a.Actions, act)
}

// skipAction goes to the comma after an action, or the statement's end. What it
// skips is understood to change no rows and no names.
func (p *parser) skipAction() {
	p.skip()
	for !p.ended() && !p.at(',') && !(p.block > 0 && p.blockEnd()) {
		if p.take("REFERENCES") {
			p.references = append(p.references, p.tableName())
			continue
		}
		p.skip()
	}
}

func (p *parser) alterRename(act *AlterAction) {
	p.next()
	switch {
	case p.is("COLUMN") && !p.isAhead(1, "TO"):
		p.next()
		p.take("IF", "EXISTS")
		p.renameColumn(act)
	case p.is("INDEX") || p.is("KEY") || p.is("CONSTRAINT") || p.is("PARTITION") || p.is("ROLLUP") || p.is("SUBPARTITION"):
		p.skipAction()
	case p.takeOne("TO", "AS") || p.eat('='):
		act.Verb, act.To = "RENAME", p.tableName()
	case p.identAhead(0) && (p.isAhead(1, "TO") || p.atAhead(1, '.')):
		p.renameColumn(act)
	default:
		act.Verb, act.To = "RENAME", p.tableName()
	}
}

func (p *parser) renameColumn(act *AlterAction) {
	act.Verb = "RENAME COLUMN"
	n := p.name()
	if len(n.Parts) > 0 {
		act.Renamed = n.Parts[len(n.Parts)-1]
	}
	p.take("TO")
	start := p.pos()
	to := p.name()
	act.Columns = []ColumnDef{{Span: p.from(start), Name: to}}
}

func (p *parser) alterExchange(act *AlterAction) {
	p.next()
	act.Verb = "EXCHANGE"
	if p.takeOne("PARTITION", "SUBPARTITION") {
		if p.at('(') {
			act.Partition = p.partitionSpec()
		} else if p.take("FOR") {
			p.skip()
		} else {
			id := p.ident()
			act.Partition = []PartitionItem{{Span: id.Span, Column: Name{Span: id.Span, Parts: []Ident{id}}}}
		}
	}
	p.take("WITH")
	p.take("TABLE")
	act.To = p.tableName()
	if !p.ended() && !p.at(',') {
		p.skipAction()
	}
}

// alterReplace reads Doris's REPLACE WITH TABLE t, ClickHouse's REPLACE
// PARTITION … FROM t, Hive's REPLACE COLUMNS (…).
func (p *parser) alterReplace(act *AlterAction) {
	p.next()
	switch {
	case p.take("WITH", "TABLE"), p.take("WITH", "MATERIALIZED", "VIEW"), p.take("WITH"):
		act.Verb, act.To = "EXCHANGE", p.tableName()
		if p.is("PROPERTIES") {
			if t := p.text[p.pos():p.toks[min(p.i+4, len(p.toks)-1)].end]; strings.Contains(strings.ToLower(t), "swap") && p.swapFalse() {
				act.Verb = "RENAME FROM"
			}
			p.skipAction()
		}
	case p.take("COLUMNS"):
		act.Verb = "ADD COLUMN"
		act.Replace = true
		p.columnDefs(act)
	case p.is("PARTITION"), p.is("TEMPORARY"):
		for !p.ended() && !p.is("FROM") && !p.is("WITH") && !p.at(',') {
			p.skip()
		}
		if p.take("FROM") {
			act.Verb, act.To = "REPLACE PARTITION", p.tableName()
			return
		}
		p.skipAction()
	default:
		p.skipAction()
	}
}

// swapFalse tells Doris's PROPERTIES ('swap' = 'false').
func (p *parser) swapFalse() bool {
	for i := p.i; i < len(p.toks) && i < p.i+12; i++ {
		if t := &p.toks[i]; t.kind == tString && strings.EqualFold(p.unquote(t), "false") {
			return true
		}
	}
	return false
}
