package sql

// pseudo are words that stand for values of no table, wherever no column has
// their name. Those of spoken are such in dialects that need no brackets for
// them.
var (
	pseudo = words(`
CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME CURRENT_USER LOCALTIME LOCALTIMESTAMP CURRENT_ROLE CURRENT_CATALOG CURRENT_SCHEMA
CURRENT_DATABASE DEFAULT TRUE FALSE NULL UTC_DATE UTC_TIME UTC_TIMESTAMP GROUPING__ID UNKNOWN
`)
	plainWords = words(`USER LEVEL TODAY NOW UID ROWID`)
	spoken     = words(`
SYSDATE SYSTIMESTAMP USER ROWNUM LEVEL SESSION_USER SYSTEM_USER GETDATE TODAY NOW ROWID SQLCODE SQLERRM UID CURRVAL NEXTVAL
`)
)

func (r *resolver) isPseudo(name string) bool {
	var buf [32]byte
	if len(name) > len(buf) {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	word := buf[:len(name)]
	if pseudo[string(word)] {
		return true
	}
	// Of the dialect that is no one's, only those that are hardly columns.
	return r.rules.spoken && spoken[string(word)] && (r.rules.name != "ansi" || !plainWords[string(word)])
}
