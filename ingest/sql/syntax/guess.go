package syntax

import "strings"

// A trait is something that speaks for dialects.
type trait struct {
	name     string
	words    string // words that follow one another, or a symbol
	dialects string // for which it speaks, the likeliest first
	weight   int
}

// traits are looked for in the tokens of a text.
var traits = []trait{
	{"LATERAL VIEW", "LATERAL VIEW", "hive spark doris", 4},
	{"TBLPROPERTIES", "TBLPROPERTIES", "hive spark", 3},
	{"ROW FORMAT", "ROW FORMAT", "hive spark", 4},
	{"STORED AS", "STORED AS", "hive spark impala", 4},
	{"SORT BY", "SORT BY", "hive spark", 3},
	{"DISTRIBUTE BY", "DISTRIBUTE BY", "hive spark", 3},
	{"CLUSTERED BY", "CLUSTERED BY", "hive spark", 3},
	{"INSERT OVERWRITE", "INSERT OVERWRITE", "hive spark doris", 3},
	{"PARTITIONED BY", "PARTITIONED BY", "hive spark flink", 2},
	{"MSCK", "MSCK REPAIR", "hive spark", 5},
	{"ADD JAR", "ADD JAR", "hive spark flink", 3},
	{"USING delta or iceberg", "USING DELTA", "spark", 6},
	{"USING delta or iceberg", "USING ICEBERG", "spark", 6},
	{"USING parquet", "USING PARQUET", "spark", 5},
	{"CACHE TABLE", "CACHE TABLE", "spark", 6},
	{"TEMPORARY VIEW", "TEMPORARY VIEW", "spark flink", 2},
	{"VERSION AS OF", "VERSION AS OF", "spark", 3},
	{"LEFT ANTI JOIN", "LEFT ANTI JOIN", "spark hive doris", 2},
	{"LEFT SEMI JOIN", "LEFT SEMI JOIN", "hive spark doris", 2},
	{"OPTIMIZE … ZORDER", "ZORDER BY", "spark", 6},
	{"WATERMARK FOR", "WATERMARK FOR", "flink", 8},
	{"DESCRIPTOR", "DESCRIPTOR (", "flink", 6},
	{"TUMBLE", "TUMBLE (", "flink", 5},
	{"HOP", "HOP (", "flink", 5},
	{"NOT ENFORCED", "NOT ENFORCED", "flink bigquery", 3},
	{"METADATA FROM", "METADATA FROM", "flink", 6},
	{"STATEMENT SET", "STATEMENT SET", "flink", 8},
	{"FOR SYSTEM_TIME AS OF", "FOR SYSTEM_TIME AS OF", "flink bigquery tsql", 3},
	{"UNNEST", "UNNEST (", "trino bigquery flink postgres", 2},
	{"CROSS JOIN UNNEST", "CROSS JOIN UNNEST", "trino flink", 2},
	{"WITH ORDINALITY", "WITH ORDINALITY", "trino postgres", 3},
	{"TRY_CAST", "TRY_CAST", "trino snowflake tsql", 1},
	{"approx_distinct", "APPROX_DISTINCT", "trino", 4},
	{"element_at", "ELEMENT_AT (", "trino", 3},
	{"json_extract_scalar", "JSON_EXTRACT_SCALAR", "trino bigquery", 3},
	{"FETCH FIRST", "FETCH FIRST", "trino oracle db2 postgres", 1},
	{"MATCH_RECOGNIZE", "MATCH_RECOGNIZE", "flink trino snowflake oracle", 2},
	{"DISTRIBUTED BY", "DISTRIBUTED BY", "doris", 7},
	{"DUPLICATE KEY", "DUPLICATE KEY (", "doris", 7},
	{"AGGREGATE KEY", "AGGREGATE KEY", "doris", 8},
	{"PROPERTIES", "PROPERTIES (", "doris", 3},
	{"BUCKETS", "BUCKETS", "doris hive", 1},
	{"REFRESH AUTO", "REFRESH AUTO", "doris", 5},
	{"WITH LABEL", "WITH LABEL", "doris", 6},
	{"ON DUPLICATE KEY UPDATE", "ON DUPLICATE KEY", "mysql", 7},
	{"REPLACE INTO", "REPLACE INTO", "mysql", 4},
	{"AUTO_INCREMENT", "AUTO_INCREMENT", "mysql", 5},
	{"GROUP_CONCAT", "GROUP_CONCAT", "mysql", 3},
	{"STRAIGHT_JOIN", "STRAIGHT_JOIN", "mysql", 5},
	{"ENGINE = InnoDB", "ENGINE = INNODB", "mysql", 8},
	{"CHARSET", "CHARSET =", "mysql", 4},
	{"DELIMITER", "DELIMITER", "mysql", 6},
	{"UNSIGNED", "UNSIGNED", "mysql", 3},
	{"MergeTree", "MERGETREE", "clickhouse", 9},
	{"MergeTree", "REPLACINGMERGETREE", "clickhouse", 9},
	{"ON CLUSTER", "ON CLUSTER", "clickhouse", 6},
	{"ARRAY JOIN", "ARRAY JOIN", "clickhouse", 7},
	{"PREWHERE", "PREWHERE", "clickhouse", 8},
	{"FINAL", "FINAL WHERE", "clickhouse", 3},
	{"SETTINGS", "SETTINGS", "clickhouse", 4},
	{"LowCardinality", "LOWCARDINALITY", "clickhouse", 8},
	{"GLOBAL JOIN", "GLOBAL LEFT", "clickhouse", 5},
	{"WITH TOTALS", "WITH TOTALS", "clickhouse", 6},
	{"::", "::", "postgres snowflake redshift duckdb clickhouse", 2},
	{"DISTINCT ON", "DISTINCT ON", "postgres duckdb", 5},
	{"ON CONFLICT", "ON CONFLICT", "postgres sqlite duckdb", 5},
	{"RETURNING", "RETURNING", "postgres oracle", 2},
	{"ILIKE", "ILIKE", "postgres snowflake redshift", 2},
	{"LANGUAGE plpgsql", "LANGUAGE PLPGSQL", "postgres", 9},
	{"JSONB", "JSONB", "postgres", 4},
	{"DISTKEY", "DISTKEY", "redshift", 9},
	{"SORTKEY", "SORTKEY", "redshift", 9},
	{"DISTSTYLE", "DISTSTYLE", "redshift", 9},
	{"UNLOAD", "UNLOAD (", "redshift", 7},
	{"QUALIFY", "QUALIFY", "snowflake bigquery teradata duckdb", 3},
	{"FLATTEN", "FLATTEN (", "snowflake", 6},
	{"COPY INTO", "COPY INTO", "snowflake spark", 5},
	{"VARIANT", "VARIANT", "snowflake doris", 3},
	{"CLONE", "CLONE", "snowflake", 3},
	{"IFF", "IFF (", "snowflake", 4},
	{"SELECT * EXCEPT", "* EXCEPT (", "bigquery spark", 3},
	{"SELECT AS STRUCT", "SELECT AS STRUCT", "bigquery", 8},
	{"SAFE_CAST", "SAFE_CAST", "bigquery", 6},
	{"WITH OFFSET", "WITH OFFSET", "bigquery", 6},
	{"INT64", "INT64", "bigquery", 5},
	{"|>", "|>", "bigquery", 5},
	{"read_parquet", "READ_PARQUET", "duckdb", 8},
	{"read_csv_auto", "READ_CSV_AUTO", "duckdb", 8},
	{"SELECT TOP", "SELECT TOP", "tsql", 6},
	{"CROSS APPLY", "CROSS APPLY", "tsql", 6},
	{"OUTER APPLY", "OUTER APPLY", "tsql", 6},
	{"NVARCHAR", "NVARCHAR", "tsql", 4},
	{"GETDATE", "GETDATE (", "tsql redshift", 3},
	{"NOLOCK", "NOLOCK", "tsql", 7},
	{"ISNULL", "ISNULL (", "tsql mysql", 1},
	{"CONNECT BY", "CONNECT BY", "oracle snowflake", 5},
	{"ROWNUM", "ROWNUM", "oracle", 5},
	{"VARCHAR2", "VARCHAR2", "oracle", 7},
	{"SYSDATE", "SYSDATE", "oracle", 3},
	{"FROM DUAL", "FROM DUAL", "oracle", 3},
	{"NVL2", "NVL2", "oracle", 2},
	{"(+)", "( + )", "oracle", 8},
}

// maxGuess is how much of a text Guess looks at, in bytes.
const maxGuess = 64 << 10

// Guess returns the dialect that a text seems to be written in, and why. Without
// any sign it is the generic one.
func Guess(text string) (*Dialect, string) {
	generic := dialects[0]
	text = text[:min(len(text), maxGuess)]
	l := lexer{text: text, d: &Dialect{HashWords: true, Dollar: true}}
	l.lex()
	p := parser{text: text, d: generic, toks: l.toks}
	votes := map[string]int{}
	var seen []string
	vote := func(name, names string, weight int) {
		for i, d := range strings.Fields(names) {
			// The likelier come first: half a point parts those that share it.
			votes[d] += 2*weight - min(i, 1)
		}
		for _, s := range seen {
			if s == name {
				return
			}
		}
		seen = append(seen, name)
	}
	for i := range traits {
		t := &traits[i]
		if p.holds(t.words) {
			vote(t.name, t.dialects, t.weight)
		}
	}
	p.quotes(vote)
	best := generic.Name
	for _, d := range dialects {
		if votes[d.Name] > votes[best] {
			best = d.Name
		}
	}
	if len(seen) == 0 {
		return generic, "nothing in the text is of one dialect"
	}
	return Lookup(best), "seen: " + strings.Join(seen, ", ")
}

// quotes votes for what quotes and variables tell.
func (p *parser) quotes(vote func(name, dialects string, weight int)) {
	back, bracket, variable := 0, 0, 0
	for i := range p.toks {
		t := &p.toks[i]
		switch {
		case t.kind == tQuoted && p.text[t.start] == '`':
			back++
			if strings.Count(p.textOf(t), ".") >= 1 {
				vote("`a.b`", "bigquery", 2)
			}
		case t.ch == '[' && i > 0 && (p.toks[i-1].ch == '.' || p.toks[i-1].wordIs(p.text, "FROM") || p.toks[i-1].wordIs(p.text, "JOIN")):
			bracket++
		case t.kind == tVar && p.text[t.start] == '@' && p.text[min(int(t.start)+1, len(p.text)-1)] != '@':
			variable++
		}
	}
	if back > 0 {
		vote("backticks", "hive spark mysql bigquery flink doris clickhouse", 1)
	}
	if bracket > 0 {
		vote("[brackets]", "tsql", 6)
	}
	if variable > 0 {
		vote("@variables", "tsql mysql", 1)
	}
}

// holds tells whether words, or symbols, follow one another somewhere.
func (p *parser) holds(words string) bool {
	first, rest, _ := strings.Cut(words, " ")
	for i := range p.toks {
		if p.same(i, first) && p.follows(i+1, rest) {
			return true
		}
	}
	return false
}

func (p *parser) follows(i int, words string) bool {
	for words != "" {
		var w string
		w, words, _ = strings.Cut(words, " ")
		if i >= len(p.toks) || !p.same(i, w) {
			return false
		}
		i++
	}
	return true
}

// same tells whether the token is a word in any case, or a symbol.
func (p *parser) same(i int, w string) bool {
	t := &p.toks[i]
	switch t.kind {
	case tWord:
		return int(t.end-t.start) == len(w) && fold(p.textOf(t), w)
	case tSym:
		return p.textOf(t) == w
	}
	return false
}
