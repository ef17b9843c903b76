package syntax

// storedAs reads STORED AS …, STORED BY ….
func (p *parser) storedAs(t *definition) bool {
	switch {
	case p.take("STORED", "AS", "INPUTFORMAT"):
		p.value()
		if p.take("OUTPUTFORMAT") {
			p.value()
		}
		for p.takeOne("INPUTDRIVER", "OUTPUTDRIVER") {
			p.value()
		}
	case p.take("STORED", "AS"), p.take("STORED", "BY"):
		t.using = p.value()
	default:
		return false
	}
	return true
}

// rowFormat reads ROW FORMAT DELIMITED … and ROW FORMAT SERDE …; the options
// of the latter go to t where there is one.
func (p *parser) rowFormat(t *definition) {
	p.step(2)
	if p.take("SERDE") {
		p.value()
		if p.seq("WITH", "SERDEPROPERTIES") && p.atAhead(2, '(') {
			p.step(2)
			if t == nil {
				t = &definition{}
			}
			p.optionList(t)
		}
		return
	}
	p.take("DELIMITED")
	for !p.broken {
		switch {
		case p.take("FIELDS", "TERMINATED", "BY"), p.take("ESCAPED", "BY"), p.take("COLLECTION", "ITEMS", "TERMINATED", "BY"),
			p.take("MAP", "KEYS", "TERMINATED", "BY"), p.take("LINES", "TERMINATED", "BY"), p.take("NULL", "DEFINED", "AS"), p.take("FIELDS", "ESCAPED", "BY"):
			p.value()
		default:
			return
		}
	}
}
