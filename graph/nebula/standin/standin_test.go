package standin

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	client "github.com/vesoft-inc/nebula-go/v3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A user is a session of the client, in a space with a tag and two edge types.
type user struct {
	t *testing.T
	*client.Session
}

func startUser(t *testing.T, o Options) (*Server, user) {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var port int
	if _, err := fmt.Sscanf(s.Addr(), "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	conns, err := client.NewConnectionPool([]client.HostAddress{{Host: "127.0.0.1", Port: port}}, client.PoolConfig{MaxConnPoolSize: 10}, quiet{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conns.Close)
	session, err := conns.GetSession("root", "nebula")
	if err != nil {
		t.Fatal(err)
	}
	u := user{t, session}
	for _, text := range []string{
		"CREATE SPACE s(partition_num=10, replica_factor=1, vid_type=FIXED_STRING(32))", "USE s",
		"CREATE TAG node(kind int8, name string, fixed fixed_string(4), must int64 NOT NULL DEFAULT 5)",
		"CREATE EDGE flow(kinds int64, valid_to int64 DEFAULT 0)", "CREATE EDGE `contains`(kinds int64)",
	} {
		u.ok(text, nil)
	}
	return s, u
}

type quiet struct{}

func (quiet) Info(string)  {}
func (quiet) Warn(string)  {}
func (quiet) Error(string) {}
func (quiet) Fatal(string) {}

func (u user) run(text string, params map[string]any) *client.ResultSet {
	u.t.Helper()
	rs, err := u.ExecuteWithParameter(text, params)
	if err != nil {
		u.t.Fatalf("%.100s: %v", text, err)
	}
	return rs
}

// ok runs a statement, and returns its rows, sorted.
func (u user) ok(text string, params map[string]any) []string {
	u.t.Helper()
	rs := u.run(text, params)
	if !rs.IsSucceed() {
		u.t.Fatalf("%.100s: %d %s", text, rs.GetErrorCode(), rs.GetErrorMsg())
	}
	var lines []string
	for _, row := range rs.AsStringTable()[1:] {
		lines = append(lines, strings.Join(row, " "))
	}
	slices.Sort(lines)
	return lines
}

func (u user) wants(text string, params map[string]any, want ...string) {
	u.t.Helper()
	if got := u.ok(text, params); !slices.Equal(got, want) {
		u.t.Errorf("%.100s\ngot  %q\nwant %q", text, got, want)
	}
}

func TestStatementsAreRefusedInTheWordsOfTheRealOne(t *testing.T) {
	_, u := startUser(t, Options{})
	params := map[string]any{"id": "a", "n": 1, "ids": []any{"a"}}
	for text, want := range map[string]string{
		"INSERT VERTEX node(kind) VALUES $id:(1)":               "-1004 SyntaxError: Parameter is not supported in vid near `$id'",
		`INSERT EDGE flow(kinds) VALUES $id->"b":(1)`:           "-1004 SyntaxError: Parameter is not supported in vid near `$id'",
		"GO FROM $ids OVER flow YIELD flow._dst AS d":           "-1004 SyntaxError: Parameter is not supported in vid near `$ids'",
		"FETCH PROP ON node $id YIELD node.kind AS k":           "-1004 SyntaxError: Parameter is not supported in vid near `$id'",
		"DELETE VERTEX $id":                                     "-1004 SyntaxError: Parameter is not supported in vid near `$id'",
		`DELETE EDGE flow $id->"b"@5`:                           "-1004 SyntaxError: Parameter is not supported in vid near `$id'",
		`INSERT EDGE flow(kinds) VALUES "a"->"b"@$n:(1)`:        "-1004 SyntaxError: syntax error near `$n'",
		`GO $n STEPS FROM "a" OVER flow YIELD flow._dst AS d`:   "-1004 SyntaxError: syntax error near `$n'",
		`GO FROM "a" OVER flow YIELD flow._dst AS d | LIMIT $n`: "-1004 SyntaxError: syntax error near `$n'",
		`GO FROM "a" OVER flow YIELD flow._dst AS d LIMIT [$n]`: "-1009 SemanticError: Limit/Sample element type must be Integer.",
		"USE $n":              "-1004 SyntaxError: syntax error near `$n'",
		"YIELD $missing AS x": "-1004 SyntaxError: Direct output of variable is prohibited near `$missing'",
		"UNWIND $ids AS id RETURN id | GO FROM $-.id OVER flow YIELD flow._dst AS d": "-1004 SyntaxError: syntax error near `RETURN'",
		"UNWIND $ids AS id | DELETE VERTEX $-.id":                                    "-1009 SemanticError: The vid `$-.id' should be type of `STRING', but was`__EMPTY__'",
		"UNWIND $ids AS id | GO FROM $-.nosuch OVER flow YIELD flow._dst AS d":       "-1009 SemanticError: `$-.nosuch', not exist prop `nosuch'",
		`GO FROM "a" OVER flow`:                                            "-1009 SemanticError: Missing yield clause.",
		`GO FROM "a" OVER nosuch YIELD nosuch._dst AS d`:                   "-1009 SemanticError: nosuch not found in space [s].",
		`GO FROM "a" OVER flow YIELD flow.nosuch AS d`:                     "-1009 SemanticError: not found the property `nosuch'",
		`GO FROM 5 OVER flow YIELD flow._dst AS d`:                         "-1004 SyntaxError: syntax error near `5'",
		`INSERT VERTEX nosuch(kind) VALUES "a":(1)`:                        "-1009 SemanticError: No schema found for `nosuch'",
		`INSERT VERTEX node(nosuch) VALUES "a":(1)`:                        "-1009 SemanticError: Unknown column `nosuch' in schema",
		`INSERT VERTEX node(kind) VALUES "a":(1, 2)`:                       "-1009 SemanticError: Column count doesn't match value count.",
		`INSERT VERTEX node(kind) VALUES "a":(300)`:                        "-1005 Storage Error: Out of range value.",
		`INSERT VERTEX node(kind) VALUES "a":("1")`:                        "-1005 Storage Error: The data type does not meet the requirements. Use the correct type of data.",
		`INSERT VERTEX node(must) VALUES "a":(NULL)`:                       "-1005 Storage Error: The not null field cannot be null.",
		`INSERT EDGE nosuch(kind) VALUES "a"->"b":(1)`:                     "-1005 EdgeNotFound: EdgeName `nosuch`",
		`FETCH PROP ON nosuch "a" YIELD nosuch.x AS x`:                     "-1005 TagNotFound: TagName `nosuch`",
		`INSERT EDGE flow(kinds) VALUES "a"->"b"@-9223372036854775808:(1)`: "-1004 SyntaxError: Out of range: near `9223372036854775808'",
		`INSERT VERTEX node(name) VALUES "it''s":("a" "b")`:                "-1004 SyntaxError: syntax error near `\"b\"'",
		"INSERT VERTEX node(name) VALUES \"a\":(\"b\nc\")":                 "-1004 SyntaxError: syntax error near `\"b\n'",
		`INSERT VERTEX node(name) VALUES "a":("\8")`:                       "-1004 SyntaxError: syntax error near `\\8'",
		`CREATE TAG from(x int64)`:                                         "-1004 SyntaxError: syntax error near `from'",
		`CREATE TAG node(x int64)`:                                         "-1005 Existed!",
		`CREATE EDGE node(x int64)`:                                        "-1005 Schema with same name exists",
		`CREATE SPACE r(replica_factor=3, vid_type=FIXED_STRING(8))`:       "-1005 Host not enough!",
		`CREATE SPACE r(partition_num=3)`:                                  "-1009 SemanticError: space vid_type must be specified explicitly",
		`USE nosuch`:                                                       "-1005 SpaceNotFound: SpaceName `nosuch`",
		"":                                                                 "-1006 StatementEmpty: ",
		"YIELD " + strings.Repeat(" ", 4<<20):                              "-1004 SyntaxError: Query is too large (4194310 > 4194304).",
		strings.Repeat("YIELD 1;", 512):                                    "-1005 Error found in optimization stage: The depth of plan tree has exceeded the max 512 level",
		strings.Repeat("YIELD 1;", 513):                                    "-1009 SemanticError: The maximum number of statements allowed has been exceeded",
	} {
		rs := u.run(text, params)
		if got := fmt.Sprintf("%d %s", rs.GetErrorCode(), rs.GetErrorMsg()); got != want {
			t.Errorf("%.80s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestLiteralsReadAsTheRealOneReadsThem(t *testing.T) {
	_, u := startUser(t, Options{})
	for literal, want := range map[string]string{
		`'it"s'`: `it"s`, `"it's"`: "it's", `"\\ \" \' \n \t \r \b \f"`: "\\ \" ' \n \t \r \b \f", `"\/ \a \v \z"`: "/ a v z",
		`"\0\00\101"`: "\x00\x00A", `"\u0041\x0041\x41"`: "AAx41", `"\u0000"`: "\x00", `"\ud83d"`: "\xed\xa0\xbd", "\"a\\\nb\"": "a\nb",
		"\"\r\t\x01\x7f\x80\xff😀\"": "\r\t\x01\x7f\x80\xff😀", `"# // /* $x"`: "# // /* $x", `""`: "",
	} {
		u.ok(`INSERT VERTEX node(name) VALUES "v":(`+literal+`)`, nil)
		if got := u.run(`FETCH PROP ON node "v" YIELD node.name AS n`, nil).GetRows()[0].Values[0].GetSVal(); string(got) != want {
			t.Errorf("%s reads as %q, not %q", literal, got, want)
		}
	}
	u.ok(`INSERT VERTEX node(fixed) VALUES "v":("abé"), "w":("a`+`\u0000`+`b"), "x":("abcdé")`, nil)
	u.wants(`FETCH PROP ON node "v", "w", "x" YIELD id(vertex) AS v, node.fixed AS f, node.must AS m, node.name AS n`, nil,
		`"v" "abé" 5 __NULL__`, `"w" "a" 5 __NULL__`, `"x" "abcd" 5 __NULL__`)
}

func TestEdgesAreWalkedAsByTheRealOne(t *testing.T) {
	_, u := startUser(t, Options{})
	u.ok(`INSERT EDGE flow(kinds, valid_to) VALUES "a"->"c"@1:(3, 0), "a"->"b"@1:(2, 9), "a"->"b"@-1:(1, 0), "b"->"c":(4, 0); INSERT EDGE contains(kinds) VALUES "a"->"x":(7)`, nil)
	u.wants(`GO FROM "a", "a" OVER flow YIELD flow._src AS s, flow._dst AS d, flow._rank AS r, flow.kinds AS k`, nil,
		`"a" "b" -1 1`, `"a" "b" 1 2`, `"a" "c" 1 3`)
	u.wants(`UNWIND $ids AS id | GO FROM $-.id OVER flow YIELD $-.id AS q, dst(edge) AS d`, map[string]any{"ids": []any{"b", "b", 5, nil, "nobody"}},
		`"b" "c"`, `"b" "c"`)
	u.wants(`GO FROM "c" OVER flow REVERSELY WHERE flow.valid_to == 0 YIELD flow._src AS s, flow._dst AS d, src(edge) AS ts, dst(edge) AS td, id($$) AS far`, nil,
		`"c" "a" "a" "c" "a"`, `"c" "b" "b" "c" "b"`)
	// Of another type a property is no value, which is not NULL, and not 0.
	u.wants(`GO FROM "a" OVER flow, contains WHERE flow.valid_to == 0 YIELD type(edge) AS t, flow.kinds AS f, contains.kinds AS c, properties(edge).kinds AS p`, nil,
		`"flow" 1  1`, `"flow" 3  3`)
	u.wants(`GO FROM "a" OVER flow, contains YIELD DISTINCT type(edge) AS t`, nil, `"contains"`, `"flow"`)
	u.wants(`GO FROM "a" OVER flow WHERE flow._rank > -1 OR (flow._rank == -1 AND flow._dst > "b") YIELD flow._dst AS d, flow._rank AS r LIMIT [1]`, nil, `"b" 1`)
	u.wants(`UNWIND $ids AS id | GO FROM $-.id OVER flow YIELD DISTINCT id($$) AS id | GO FROM $-.id OVER flow YIELD flow._dst AS d`, map[string]any{"ids": []any{"a"}}, `"c"`)
	u.wants(`GO FROM "a" OVER flow YIELD flow.kinds AS k | ORDER BY $-.k DESC | LIMIT 1, 1`, nil, "2")
	u.wants(`GO FROM "a" OVER flow BIDIRECT YIELD flow.kinds AS k | YIELD count(*) AS n`, nil, "3")
	u.wants(`FETCH PROP ON flow "a"->"b"@1, "a"->"b", "a"->"b"@-1 YIELD src(edge) AS s, dst(edge) AS d, rank(edge) AS r, flow.kinds AS k`, nil, `"a" "b" -1 1`, `"a" "b" 1 2`)
	u.ok(`UNWIND $rows AS p | YIELD $-.p.s AS s, $-.p.d AS d, $-.p.r AS r | DELETE EDGE flow $-.s->$-.d@$-.r`, map[string]any{"rows": []any{map[string]any{"s": "a", "d": "b", "r": 1}}})
	u.ok(`DELETE EDGE flow "a"->"c"@1, "no"->"body"@7`, nil)
	u.wants(`GO FROM "a", "b" OVER flow YIELD flow.kinds AS k`, nil, "1", "4")
	u.wants(`GO FROM "b", "c" OVER flow REVERSELY YIELD flow.kinds AS k`, nil, "1", "4")
}

func TestWritesReplaceWholeRows(t *testing.T) {
	_, u := startUser(t, Options{})
	u.ok(`INSERT VERTEX node(kind, name, must) VALUES "a":(1, "x", 2), "a":(2, "y", 3)`, nil)
	const fetch = `FETCH PROP ON node "a" YIELD node.kind AS k, node.name AS n, node.must AS m`
	u.wants(fetch, nil, `2 "y" 3`)
	u.ok(`INSERT VERTEX IF NOT EXISTS node(kind) VALUES "a":(9)`, nil)
	u.wants(fetch, nil, `2 "y" 3`)
	u.ok(`INSERT VERTEX node(kind) VALUES "a":(4)`, nil)
	u.wants(fetch, nil, `4 __NULL__ 5`)
	u.ok(`ALTER TAG node ADD (more int64 DEFAULT 8)`, nil)
	u.wants(`FETCH PROP ON node "a" YIELD node.more AS m`, nil, "8")
	u.ok(`INSERT EDGE flow(kinds) VALUES "a"->"b":($n), "b"->"a":($l[1])`, map[string]any{"n": math.MaxInt64, "l": []any{1, 2}})
	u.ok(`DELETE VERTEX "a"`, nil)
	u.wants(fetch, nil)
	u.wants(`GO FROM "a" OVER flow BIDIRECT YIELD flow.kinds AS k`, nil, "2", "9223372036854775807")
	u.ok(`DELETE VERTEX "a" WITH EDGE`, nil)
	u.wants(`GO FROM "a", "b" OVER flow BIDIRECT YIELD flow.kinds AS k`, nil)
}

func TestSeveralStatementsAreValidatedFirst(t *testing.T) {
	s, u := startUser(t, Options{})
	const good, fetch = `INSERT VERTEX node(kind) VALUES "a":(1)`, `FETCH PROP ON node "a" YIELD node.kind AS k`
	for _, text := range []string{good + "; nonsense", good + `; INSERT VERTEX node(nosuch) VALUES "b":(1)`} {
		if u.run(text, nil).IsSucceed() {
			t.Errorf("%s: succeeded", text)
		}
		u.wants(fetch, nil)
	}
	// What fails as it runs leaves what was before, and a Half of three one and a half.
	if rs := u.run(good+`; INSERT VERTEX node(kind) VALUES "b":(300); INSERT VERTEX node(kind) VALUES "c":(1)`, nil); rs.IsSucceed() {
		t.Error("it succeeded")
	}
	u.wants(`FETCH PROP ON node "a", "b", "c" YIELD id(vertex) AS v`, nil, `"a"`)
	s.FailNext(1, Half)
	var rows []string
	for i := range 50 {
		rows = append(rows, fmt.Sprintf(`"h%d":(1)`, i))
	}
	if rs := u.run(`INSERT VERTEX node(kind) VALUES "d":(1); INSERT VERTEX node(kind) VALUES `+strings.Join(rows, ", ")+`; INSERT VERTEX node(kind) VALUES "e":(1)`, nil); rs.GetErrorCode() != -1005 {
		t.Error(rs.GetErrorCode())
	}
	u.wants(`FETCH PROP ON node "d", "e" YIELD id(vertex) AS v`, nil, `"d"`)
	var ids []any
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("h%d", i))
	}
	if n := len(u.ok(`UNWIND $ids AS id | FETCH PROP ON node $-.id YIELD id(vertex) AS v`, map[string]any{"ids": ids})); n == 0 || n == 50 {
		t.Errorf("of 50 rows %d are stored, not half", n)
	}
}
