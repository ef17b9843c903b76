package syntax

import "strings"

// shapes says, for an option of a table or a view, what follows its words. A
// shape is read left to right: = is an equals sign that may be missing, v a
// value, y YES or NO and the like if they stand there, p a parenthesis, o a parenthesis that may be missing, e an expression,
// l a list of them.
var shapes = parseShapes(`
COMMENT:=v  CHARSET:=v  COLLATE:=v  AUTO_INCREMENT:=v  ROW_FORMAT:=v  KEY_BLOCK_SIZE:=v  MAX_ROWS:=v  MIN_ROWS:=v
AVG_ROW_LENGTH:=v  CHECKSUM:=v  CONNECTION:=v  DELAY_KEY_WRITE:=v  INSERT_METHOD:=v  PACK_KEYS:=v  PASSWORD:=v
STATS_AUTO_RECALC:=v  STATS_PERSISTENT:=v  STATS_SAMPLE_PAGES:=v  TABLESPACE:=v  COMPRESSION:=v  ENCRYPTION:=v
DEFAULT_CHARACTER:  ENGINE_ATTRIBUTE:=v  BROADCAST:  BLOCK_SIZE:=v  REPLICA_NUM:=v  USE_BLOOM_FILTER:=v  TABLET_SIZE:=v
PCTFREE:v  PCTUSED:v  INITRANS:v  MAXTRANS:v  STORAGE:p  LOGGING:  NOLOGGING:  COMPRESS:y  NOCOMPRESS:  CACHE:  NOCACHE:
PARALLEL:o  NOPARALLEL:  MONITORING:  NOMONITORING:  ROWDEPENDENCIES:  NOROWDEPENDENCIES:  OVERFLOW:  INCLUDING:v
CLUSTERING:  ORGANIZATION:vo  REJECT:vv  PCTTHRESHOLD:v  USAGE:v  IN_MEMORY_METADATA:  CURSOR_SPECIFIC_SEGMENT:  MAPPED:vp  COLPROPERTIES:p  DATA_RETENTION_TIME_IN_DAYS:=v  CHANGE_TRACKING:=v  TARGET_LAG:=v  WAREHOUSE:=v
REFRESH_MODE:=v  INITIALIZE:=v  DISTSTYLE:v  DISTKEY:p  SORTKEY:o  COMPOUND:  INTERLEAVED:  BACKUP:v  ENCODE:v
AGGREGATE:vp  DUPLICATE:vp  UNIQUE:vp  TTL:l  SETTINGS:s  SAMPLE:vl  ROLLUP:p  SORTED:vp  SKEWED:vp  WITHOUT:v
UUID:v  EMPTY:  POPULATE:  LIFECYCLE:v  FORMAT:=v  FILE_FORMAT:=v  STAGE_FILE_FORMAT:=v  PATTERN:=v  AUTO_REFRESH:=v
REFRESH_ON_CREATE:=v  PREFIX:v  CACHED:  UNCACHED:  STRICT:  BUCKETS:v  COLUMN_STORE:  ACCESS:vv
INDEX:vv  SECURITY:v  RLS:  BLOOMFILTER:  FALLBACK:  JOURNAL:  CHECKSUM:=v  DATABLOCKSIZE:=v
LOG:  NO:v  NOT:v  DATA:vv  SEGMENT:vv  RESULT_CACHE:p  FLASHBACK:v  INMEMORY:  NO_INMEMORY:  VALUE:v  CAPTURE:v  VALUES:  APPROXIMATE:
ENABLE:  DISABLE:  REWRITE:  MOVEMENT:  COMPACT:  NODEFAULT:  CONSTRAINTS:  TEXTIMAGE_ON:v  FILESTREAM_ON:v  CLUSTERED:vp  OIDS:=v  VISIBLE:  INVISIBLE:  INITIALLY:v  DEFERRED:
DATA_CAPTURE:v  CCSID:v  AUDIT:v  VOLATILE:v  APPEND:v  LOCKSIZE:v  IN:v  HASH:vp  PERMANENT:  MAPPING:v  SCHEDULE:v  QUERY:v  REWRITE:
EXTENT:vv  NEXT:vv  LOCK:vv  MAINTAINED:vv  HISTORY:v  STATS:v  VERSION:=v  STATUS:=v  PURGE:  CASCADE:
PROJECTIONS:  UNSEGMENTED:vv  SEGMENTED:vlvv  KSAFE:v  COPY_GRANTS:  CATALOG:=v  EXTERNAL_VOLUME:=v  BASE_LOCATION:=v
COLUMN_MAPPING:  REPLACE:  INTO:vv  CREDENTIAL:=v  METADATA_FILE_PATH:=v  ALLOW_ROW:  TEMPORARY:  READ:v  TYPE:=v
DEFERRABLE:  ROW:v  EXTERNAL:v  COLUMN:v  MOVEMENT:  MODE:=v  SHARD_ROW_ID_BITS:=v  PRE_SPLIT_REGIONS:=v  LIST:  CHARACTER_SET:=v  NODEGROUP:=v  SECONDARY_ENGINE:=v
AUTOEXTEND_SIZE:=v  START:vv  TRANSACTIONAL:=v  PAGE_CHECKSUM:=v  SEQUENCE:=v  MERGE:  NOMERGE:  KEEP:  INCREMENT:v  LOCAL:o  GLOBAL:  SHARED:  UNRECOVERABLE:  RECOVERABLE:  OPTIMIZE:  ISOLATED:
CONTAINS:vv  VALIDPROC:v  EDITPROC:v  OBID:v  BUFFERPOOL:v  GBPCACHE:v  PARTITIONING:vp  USING:vv  HASHING:  DISTRIBUTION:  INCLUDE:p  DEFINE:  MAXVALUE:  NOCYCLE:  PROPERTIES:o  TBLPROPERTIES:o  DATETIMEFORMAT:=v  WITH_SYSTEM:  ALGORITHM:=v  SUBPARTITIONS:v  PARTITIONS:v  SUBPARTITION:vvo  PRIORITY:v  TRUNCATE:vvv  USE:v
`)

func parseShapes(text string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(text) {
		w, shape, _ := strings.Cut(f, ":")
		m[w] = shape
	}
	return m
}

// plainOption reads an option by its shape, or any `word = value`.
func (p *parser) plainOption(t *definition, start int32) bool {
	if p.tok().kind == tVar {
		p.next() // options that a template fills in
		return true
	}
	if p.eat(',') {
		return true
	}
	w := p.word()
	if w == "" {
		return false
	}
	switch w {
	case "DEFAULT":
		p.next()
		if p.isAhead(1, "SET") || p.is("CHARSET") || p.is("COLLATE") || p.is("CHARACTER") || p.is("DDL_COLLATION") || p.is("CHARSETS") || p.is("DDL") || p.is("COLLATION") {
			return p.plainOption(t, start)
		}
		return p.takeOne("NOLOGGING", "LOGGING", "NONE")
	case "CHARACTER":
		if !p.isAhead(1, "SET") {
			return false
		}
		p.step(2)
		p.eat('=')
		p.value()
		return true
	case "ORDER", "PRIMARY", "CLUSTER", "CLUSTERED", "LOB", "NESTED", "VARRAY", "SORT":
		return p.keyOption(w)
	case "INDEX", "DATA":
		if p.atAhead(1, '=') && p.ahead(2).kind == tString || p.isAhead(1, "DIRECTORY") {
			p.next()
			p.take("DIRECTORY")
			p.eat('=')
			p.value()
			return true
		}
	}
	if w == "UNION" && (p.atAhead(1, '=') || p.atAhead(1, '(')) { // MySQL's MERGE tables
		p.next()
		p.eat('=')
		p.group(func() { p.list(func() { p.references = append(p.references, p.tableName()) }) })
		return true
	}
	if p.atAhead(1, '=') && p.identAhead(0) {
		p.next()
		p.next()
		v := p.value()
		t.options = append(t.options, Option{Span: p.from(start), Key: strings.ToLower(w), Value: v})
		return true
	}
	if w == "IN" && p.isAhead(1, "DATABASE") {
		p.next()
	}
	shape, ok := shapes[w]
	if !ok {
		return false
	}
	p.next()
	p.shape(shape)
	if w == "COMMENT" || strings.HasPrefix(shape, "=v") {
		last := p.toks[p.i-1]
		t.options = append(t.options, Option{Span: p.from(start), Key: strings.ToLower(w), Value: p.unquote(&last)})
	}
	return true
}

// shape reads what a shape says.
func (p *parser) shape(shape string) {
	for i := range len(shape) {
		if p.ended() {
			return
		}
		switch shape[i] {
		case '=':
			p.eat('=')
		case 'v':
			if p.at('(') || p.is("AS") {
				continue
			}
			p.value()
		case 'y':
			p.takeOne("YES", "NO", "BASIC", "ADVANCED")
			if p.take("FOR") {
				p.next()
				p.takeOne("OPERATIONS", "LOW", "HIGH", "MEDIUM")
			}
			if p.isLiteral() {
				p.next()
			}
		case 'p', 'o':
			if p.at('(') && !p.queryAt(p.i) {
				p.skip()
			} else if shape[i] == 'o' && p.tok().kind == tNumber {
				p.next()
			}
		case 'l':
			p.list(func() {
				p.climb(precOther)
				p.ttlAction()
			})
		case 's':
			p.settings()
		}
	}
}

// ttlAction reads what ClickHouse does to rows that are too old.
func (p *parser) ttlAction() {
	switch {
	case p.take("DELETE"):
	case p.take("TO", "DISK"), p.take("TO", "VOLUME"), p.take("RECOMPRESS"):
		p.skip()
		if p.at('(') {
			p.skip()
		}
	case p.take("GROUP", "BY"):
		p.list(func() { p.expr() })
		if p.take("SET") {
			p.assignments()
		}
	}
	if p.take("WHERE") {
		p.expr()
	}
}

// keyOption reads ORDER BY, PRIMARY KEY, CLUSTER BY, CLUSTERED BY of a table.
func (p *parser) keyOption(w string) bool {
	switch w {
	case "ORDER", "SORT":
		if !p.isAhead(1, "BY") {
			return p.is("ORDER") && p.take("ORDER")
		}
		p.step(2)
		p.orderItems()
	case "PRIMARY":
		if p.isAhead(1, "INDEX") { // Teradata's
			p.step(2)
			if p.identAhead(0) && p.atAhead(1, '(') {
				p.next()
			}
			if p.at('(') {
				p.skip()
			}
			return true
		}
		if !p.isAhead(1, "KEY") {
			return false
		}
		p.step(2)
		if p.at('(') {
			p.skip()
		} else {
			p.expr()
		}
		p.take("NOT", "ENFORCED")
	case "CLUSTER", "CLUSTERED":
		if p.isAhead(1, "ON") && p.atAhead(2, '(') { // Hive's materialized views
			p.step(2)
			p.skip()
			return true
		}
		if !p.isAhead(1, "BY") {
			if p.take("CLUSTER") { // Oracle's clusters
				p.name()
				p.skip()
				return true
			}
			return false
		}
		p.step(2)
		p.take("LINEAR")
		if p.takeOne("AUTO", "NONE") {
			return true
		}
		p.list(func() { p.expr() })
		if p.take("SORTED", "BY") {
			p.skip()
		}
		if p.take("INTO") {
			p.value()
			p.takeOne("BUCKETS", "SHARDS")
		}
	case "LOB", "NESTED", "VARRAY":
		p.next()
		p.take("TABLE")
		p.value()
		p.take("STORE")
		p.take("AS")
		p.takeOne("SECUREFILE", "BASICFILE")
		if !p.at('(') {
			p.value()
		}
		if p.at('(') {
			p.skip()
		}
	}
	return true
}
