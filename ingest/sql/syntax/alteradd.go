package syntax

import "strings"

// alterWords begin actions that change no rows and no names.
var alterWords = wordSet(`UNSET ENABLE DISABLE OWNER CLUSTER TOUCH CONCATENATE COMPACT RECOVER REFRESH SUSPEND RESUME COMMENT

	ENGINE CONVERT FORCE ORDER CHECK COALESCE REORGANIZE REBUILD OPTIMIZE ANALYZE REPAIR TRUNCATE REMOVE UPGRADE IMPORT DISCARD
	DETACH FETCH FREEZE UNFREEZE DELETE UPDATE MATERIALIZE CLEAR RESET INHERIT NO OF NOT VALIDATE WITH NOCHECK
	SHRINK MOVE LOGGING NOLOGGING PARALLEL NOPARALLEL CACHE NOCACHE UNDROP ARCHIVE UNARCHIVE EXECUTE COMPRESS SPLIT MERGE
	ALLOCATE DEALLOCATE MINIMIZE NOMINIMIZE MONITORING NOMONITORING ROW AUTO_INCREMENT CHARACTER COLLATE DEFAULT ALGORITHM LOCK
	STORAGE COMPILE DROPPARTITION PCTFREE INITRANS DISTRIBUTE BUCKETS RECLUSTER APPEND SORTKEY DATA CLUSTERED SKEWED
	START STOP FORMAT LOCATION TBLPROPERTIES PROPERTIES CHANGETRACKING NOCOMPRESS PURGE PCTUSED MAXTRANS TABLESPACE DATACAPTURE
	VOLATILE ACTIVATE DEACTIVATE ADVANCE PARTITIONING INMEMORY READ CLUSTERING UNIQUE INDEX STATS AUTO ROW_FORMAT CHARSET
	KEY_BLOCK_SIZE MAX_ROWS COMPRESSION CONNECTION INSERT_METHOD ROTATE UNARCHIVE WRITE BRANCH CREATE SECONDARY_LOAD
	SECONDARY_UNLOAD MODIFY DELAY_KEY_WRITE PACK_KEYS CHECKSUM AVG_ROW_LENGTH MIN_ROWS PASSWORD STATS_PERSISTENT ENCRYPTION`)

func wordSet(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

func (p *parser) alterAdd(act *AlterAction) {
	switch p.word() {
	case "PARTITION", "TEMPORARY", "RANGE", "IF":
		if p.is("IF") && !p.isAhead(3, "PARTITION") {
			break
		}
		p.take("IF", "NOT", "EXISTS")
		if p.take("PARTITION") && p.at('(') {
			act.Verb = "ADD PARTITION"
			act.Partition = p.partitionSpec()
			if p.take("LOCATION") {
				act.Location = p.value()
			}
			for p.take("PARTITION") {
				p.skip()
				if p.take("LOCATION") {
					p.value()
				}
			}
			return
		}
		act.Verb = "ADD PARTITION"
		p.skipAction()
		return
	case "CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "INDEX", "KEY", "CHECK", "FULLTEXT", "SPATIAL", "ROLLUP", "PROJECTION", "SUPPLEMENTAL", "ROW",
		"SEARCH", "TAG", "FILES", "STATISTICS", "WATERMARK", "PERIOD", "DISTRIBUTION", "SUBPARTITION", "EQUALITY", "OVERFLOW", "LOGGING", "VOLUME", "VALUE":
		if p.is("KEY") && typeWord(p.wordAhead(1)) {
			break
		}
		p.skipAction()
		return
	}
	act.Verb = "ADD COLUMN"
	p.takeOne("COLUMN", "COLUMNS")
	p.take("IF", "NOT", "EXISTS")
	p.columnDefs(act)
}

// columnDefs reads one column or a list of them in parentheses.
func (p *parser) columnDefs(act *AlterAction) {
	t := &definition{view: &CreateView{}}
	if !p.group(func() { p.list(func() { p.definitionItem(t); p.columnPlace() }) }) {
		p.definitionItem(t)
		p.columnPlace()
	}
	act.Columns = append(act.Columns, t.columns...)
	p.takeOne("CASCADE", "RESTRICT")
}

// columnPlace reads FIRST, AFTER a, TO rollup, PROPERTIES (…).
func (p *parser) columnPlace() {
	for !p.broken {
		switch {
		case p.take("FIRST"), p.take("LAST"):
		case p.take("AFTER"), p.take("BEFORE"), p.take("TO"), p.take("IN"):
			p.name()
		case p.is("PROPERTIES") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.take("CASCADE"), p.take("RESTRICT"):
		default:
			return
		}
	}
}

func (p *parser) alterDrop(act *AlterAction) {
	switch p.word() {
	case "PARTITION", "IF", "TEMPORARY", "EXPIRED":
		p.take("TEMPORARY")
		p.take("IF", "EXISTS")
		if p.take("PARTITION") {
			act.Verb = "DROP PARTITION"
			p.take("IF", "EXISTS")
			if p.at('(') {
				act.Partition = p.partitionSpec()
				for p.at(',') && p.isAhead(1, "PARTITION") {
					p.next()
					p.next()
					p.skip()
				}
				p.take("PURGE")
				if !p.ended() && !p.at(',') {
					p.skipAction()
				}
				return
			}
			for p.skipAction(); p.at(',') && p.identAhead(1) && (p.ahead(2).ch == ',' || p.ahead(2).kind == tSemi || p.ahead(2).kind == tEnd); {
				p.skipAction() // one more partition
			}
			return
		}
	case "CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "INDEX", "KEY", "CHECK", "ROLLUP", "PROJECTION", "SUPPLEMENTAL", "ROW", "DETACHED", "SUBPARTITION",
		"TAG", "BRANCH", "WATERMARK", "DISTRIBUTION", "DEFAULT", "STATISTICS", "OVERFLOW", "PART", "FEATURE", "NOT", "STORAGE", "UNUSED":
		if !p.atAhead(1, ',') && !p.ended() && p.ahead(1).kind != tEnd && p.ahead(1).kind != tSemi {
			p.skipAction()
			return
		}
	}
	act.Verb = "DROP COLUMN"
	p.takeOne("COLUMN", "COLUMNS")
	p.take("IF", "EXISTS")
	one := func() {
		if !p.identAhead(0) {
			return
		}
		n := p.name()
		act.Columns = append(act.Columns, ColumnDef{Span: n.Span, Name: n})
	}
	if !p.group(func() { p.list(one) }) {
		one()
	}
	p.takeOne("CASCADE", "RESTRICT")
	p.take("CONSTRAINTS")
	if p.take("FROM") {
		p.name()
	}
}
