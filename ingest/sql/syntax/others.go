package syntax

import "strings"

// otherHeads are statements that move no rows, by their first word. What may
// come second is listed; * is anything, - is nothing at all.
var otherHeads = parseHeads(`
GRANT *|REVOKE *|DENY *|SHOW *|DESCRIBE *|DESC *|ANALYZE *|ANALYSE *|COMMIT - WORK TRANSACTION TRAN AND PREPARED FORCE COMMENT
ROLLBACK - WORK TRANSACTION TRAN TO PREPARED AND|SAVEPOINT *|SAVE *|RELEASE *|START TRANSACTION SLAVE REPLICA GROUP_REPLICATION DATABASE|STOP JOB SLAVE REPLICA ROUTINE GROUP_REPLICATION SYNC
KILL *|MSCK *|REFRESH *|ADD JAR JARS FILE FILES ARCHIVE ARCHIVES CUSTOM|LIST *|DELETE JAR FILE JARS|REMOVE *|COMMENT ON IF|LOCK TABLE TABLES INSTANCE *|UNLOCK TABLE TABLES INSTANCE
VACUUM - *|OPTIMIZE *|CHECKPOINT - *|CLUSTER - *|REINDEX *|DISCARD *|LISTEN *|UNLISTEN *|NOTIFY *|PREPARE *|EXECUTE *|EXEC *|DEALLOCATE *|CALL *
RESET - *|CLEAR *|UNCACHE TABLE|HELP - *|FLUSH *|PURGE *|HANDLER *|DO *|XA *|CHANGE *|SIGNAL *|RESIGNAL - *|INSTALL *|UNINSTALL *|CHECK *|CHECKSUM TABLE|REPAIR TABLE NO_WRITE_TO_BINLOG LOCAL
BINLOG *|RECOVER *|CANCEL *|SYSTEM *|ATTACH *|DETACH *|EXISTS *|WATCH *|PUT *|GET *|LS *|RM *|UNDROP *|BACKUP *|RESTORE *|PAUSE *|RESUME *|SYNC *|ADMIN *|CLEAN *|SUBMIT *
REPL DUMP LOAD STATUS|CLONE LOCAL INSTANCE TABLE|READ *|TUNNEL *|RESTART - *|COMPACT *|SECURITY LABEL|PRAGMA *|PRINT *|RAISERROR *|RAISE - *|THROW - *|WAITFOR *|DBCC *|SHUTDOWN - *|QUIT -|EXIT - *|DEFINE *|UNDEFINE *|PROMPT - *|AUDIT *|NOAUDIT *|FLASHBACK *|ASSOCIATE *
DISASSOCIATE *|COLLECT *|MODIFY *|COMPUTE *|INVALIDATE *|RELOAD *|REASSIGN *|WHENEVER *|SPOOL *|RENAME USER DATABASE|OPEN *|CLOSE *|FETCH *|LEAVE *|ITERATE *|CONTINUE - *|BREAK -
GOTO *|NULL -|PERFORM *|RETURN - *|DFS *|SOURCE *|ECHO *|WARM *|TERMINATE *|SWITCH *|APPLY *|REPLAY *|ASSERT *|EXPORT DATABASE|UPDATE STATISTICS STATS|SUSPEND *|TRANSFER *
ABORT - *|END - WORK TRANSACTION|MOVE *|REPLICATE *|CONNECT *|DISCONNECT - *|PROFILE *|VALIDATE *|FREEZE *|CONVERT TO|RESOLVE *|PIPE *|STATISTICS *|TRUST *|UNSET *|IMPORT FOREIGN|GENERATE *|FSCK *|TUNE *|SNAPSHOT *|BLOCK *|UNBLOCK *|REORG *|RUNSTATS *`)

func parseHeads(text string) map[string]string {
	m := map[string]string{}
	for _, head := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == '\n' }) {
		w, rest, _ := strings.Cut(strings.TrimSpace(head), " ")
		m[w] = " " + rest + " "
	}
	return m
}

// createObject tells what CREATE and DROP may name and that holds no rows, or
// is read elsewhere.
func createObject(w string) bool { return createObjects[w] }

var createObjects = wordSet(`TABLE VIEW MATERIALIZED DATABASE SCHEMA USER ROLE INDEX CATALOG FUNCTION PROCEDURE PROC TRIGGER SEQUENCE
	TYPE DOMAIN EXTENSION SERVER FOREIGN POLICY RULE AGGREGATE OPERATOR CAST COLLATION CONVERSION LANGUAGE TABLESPACE PUBLICATION
	SUBSCRIPTION EVENT ACCESS STATISTICS TEXT TRANSFORM GROUP SYNONYM PUBLIC PACKAGE DIRECTORY CONTEXT PROFILE LIBRARY OUTLINE
	CLUSTER DIMENSION UNIQUE BITMAP FULLTEXT SPATIAL CLUSTERED NONCLUSTERED COLUMNSTORE XML STAGE PIPE STREAM TASK WAREHOUSE
	FILE MASKING ROW SHARE RESOURCE NETWORK INTEGRATION STORAGE NOTIFICATION API SECURITY TAG ALERT SECRET APPLICATION
	EXTERNAL MODEL ASSIGNMENT RESERVATION CAPACITY SEARCH VECTOR SNAPSHOT MACRO DICTIONARY QUOTA SETTINGS NAMED ROUTINE JOB
	REPOSITORY WORKLOAD ENCRYPTKEY CONNECTION SQL_BLOCK_RULE STORAGE_POLICY LOGIN CREDENTIAL CERTIFICATE SYMMETRIC ASYMMETRIC
	PARTITION DEFAULT ASSEMBLY CONTRACT MESSAGE QUEUE SERVICE REMOTE ENDPOINT AUDIT AVAILABILITY FULLTEXT BROKER CRYPTOGRAPHIC
	LOGFILE UNDO INSTANCE SYSTEM TEMPORARY GLOBAL VARIABLE NODEGROUP BUFFERPOOL ALIAS STOGROUP HADOOP NAMESPACE SYSTEM_FUNCTION
	DATACONNECTOR POOL BRANCH VOLUME FLOW LOCATION CONSTRAINT OWNED REMOTE RECIPIENT PROVIDER METASTORE CLEAN POLICIES SCHEDULED CONTROLFILE DISKGROUP PFILE SPFILE MATERIALIZED EDITION RESTORE JAVA INDEXTYPE OPERATOR FLASHBACK PLUGGABLE HYBRID KEY WRAPPER
	MINING ROLLBACK ENVIRONMENT COMPUTE GIT IMAGE NOTEBOOK STREAMLIT CORTEX SEMANTIC ONLINE CONTACT SCHEDULE DATA RLS LIST CHECK LIVE ANALYTIC
	ATTRIBUTE HIERARCHY TRUSTED MASK HISTOGRAM SINK SOURCE CONNECTOR QUERY INVERTED ANALYZER TOKENIZER`)

// otherStatement reads a statement that moves no rows.
func (p *parser) otherStatement(start int32) Body {
	w := p.word()
	if w == "" {
		if p.at('!') { // Hive's commands
			for p.next(); !p.ended() && !p.newLine(); {
				p.next()
			}
			return &Other{Span: p.from(start), Verb: "CLIENT", Known: true}
		}
		return p.other(start)
	}
	seconds, ok := otherHeads[w]
	if !ok {
		return p.other(start)
	}
	second := p.wordAhead(1)
	next := p.ahead(1).kind
	alone := next == tEnd || next == tSemi || next == tHard || next == tLine
	switch {
	case alone && strings.Contains(seconds, " - "):
	case !alone && strings.Contains(seconds, " * "):
	case second != "" && strings.Contains(seconds, " "+second+" "):
	default:
		return p.other(start)
	}
	o := &Other{Verb: w, Known: true}
	p.otherNames(o)
	p.skipStatement()
	o.Span = p.from(start)
	return o
}

// newLine tells whether the token is the first of its line.
func (p *parser) newLine() bool {
	return p.i == 0 || strings.IndexByte(p.text[p.last():p.pos()], '\n') >= 0
}

// skipStatement goes to the end of a statement that is understood; where
// delimiters may be missing, also to a statement that begins on a new line.
func (p *parser) skipStatement() {
	if !p.d.NoSemicolons {
		p.skipToEnd()
		return
	}
	for !p.ended() && !(p.block > 0 && p.blockEnd()) && !(p.has(headWord) && p.newLine()) {
		p.skip()
	}
}

// known reads a statement that is known by its first words.
func (p *parser) known(start int32, verb string) Body {
	if verb == "CREATE" && !createObject(p.word()) && p.tok().kind == tWord || verb == "CREATE" && p.ended() {
		return p.other(start)
	}
	o := &Other{Verb: verb, Known: true}
	if verb == "CREATE" || verb == "ALTER" {
		o.Verb += " " + p.word()
		p.otherNames(o)
	} else if strings.HasPrefix(verb, "DESC") {
		p.otherNames(o)
	}
	p.skipStatement()
	o.Span = p.from(start)
	return o
}
