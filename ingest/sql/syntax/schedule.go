package syntax

// distributed reads DISTRIBUTED BY HASH (…) BUCKETS n, DISTRIBUTED INTO n
// BUCKETS, Greenplum's DISTRIBUTED RANDOMLY.
func (p *parser) distributed() bool {
	p.next()
	switch {
	case p.take("RANDOMLY"), p.take("REPLICATED"), p.take("BY", "RANDOM"), p.take("BY", "BROADCAST"):
	case p.take("BY"), p.take("ON"):
		if !p.at('(') {
			p.name()
		}
		if p.at('(') {
			p.skip()
		}
	case p.take("INTO"):
		p.next()
		return p.take("BUCKETS")
	default:
		return false
	}
	if p.take("INTO") {
		p.next()
		return p.take("BUCKETS")
	}
	if p.take("BUCKETS") {
		p.next()
	}
	return true
}

// refresh reads BUILD … and REFRESH … of materialized views.
func (p *parser) refresh() bool {
	w := p.word()
	p.next()
	if p.at('=') { // Snowflake's REFRESH_MODE and Redshift's have their own words
		p.next()
		p.value()
		return true
	}
	if w == "BUILD" {
		return p.takeOne("IMMEDIATE", "DEFERRED")
	}
	for !p.broken {
		switch {
		case p.takeOne("COMPLETE", "AUTO", "INCREMENTAL", "FAST", "FORCE", "NEVER", "ASYNC", "SYNC", "MANUAL", "IMMEDIATE", "DEFERRED", "ON", "DEMAND", "COMMIT", "FULL", "APPEND", "RANDOMIZE", "STATEMENT"):
		case p.take("SCHEDULE"):
			p.schedule()
		case p.is("START") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.is("EVERY"), p.is("AFTER"), p.is("STARTS"):
			p.schedule()
		case p.is("WITH") && (p.isAhead(1, "ROWID") || p.isAhead(1, "PRIMARY")):
			p.step(2)
			p.take("KEY")
		case p.take("NEXT"):
			p.expr()
		case p.is("START") && p.isAhead(1, "WITH"):
			p.step(2)
			if p.at('(') {
				p.skip()
			} else {
				p.expr()
			}
		case p.take("DEPENDS"):
			p.take("ON")
			p.list(func() { p.name() })
		default:
			return true
		}
	}
	return true
}

// schedule reads EVERY n unit STARTS '…'.
func (p *parser) schedule() {
	for !p.broken {
		switch {
		case p.take("EVERY"), p.take("AFTER"):
			if p.at('(') {
				p.skip()
				continue
			}
			p.take("INTERVAL")
			p.value()
			p.intervalUnits()
		case p.take("AT", "TIME", "ZONE"), p.take("STARTS"), p.take("ENDS"), p.take("AT"), p.take("CRON"), p.take("OFFSET"):
			p.climb(precOther)
			p.intervalUnits()
		default:
			return
		}
	}
}
