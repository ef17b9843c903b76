package nebula

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/vesoft-inc/nebula-go/v3"

	"headwater/graph"
	"headwater/graph/nebula/standin"
)

// The ten facts about NebulaGraph and its client that are most likely to hurt,
// each with what is done about it here. Where the fault is the client's or
// that of a server in trouble, the test is one of the stand-in alone.

// testSchema makes the space, and an edge type and a tag for tests.
func testSchema(t testing.TB, o Options) *pool {
	t.Helper()
	p := dialed(t, o)
	if err := bringUp(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"CREATE TAG IF NOT EXISTS thing(x int8)", "CREATE EDGE IF NOT EXISTS link(x int64)",
		`INSERT VERTEX thing(x) VALUES "first":(0)`, `INSERT EDGE link(x) VALUES "first"->"first":(0)`,
		`GO FROM "first" OVER link YIELD link.x AS x`, `FETCH PROP ON thing "first" YIELD thing.x AS x`,
	} {
		if _, err := p.patient(t.Context(), true, notYet, text); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// clientSession opens a session of the client's own.
func clientSession(t testing.TB, s *standin.Server, timeout time.Duration) *client.Session {
	t.Helper()
	host, port := "127.0.0.1", 0
	if _, err := fmt.Sscanf(s.Addr(), "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	conns, err := client.NewConnectionPool([]client.HostAddress{{Host: host, Port: port}}, client.PoolConfig{TimeOut: timeout, MaxConnPoolSize: 10}, quiet{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conns.Close)
	session, err := conns.GetSession("root", "nebula")
	if err != nil {
		t.Fatal(err)
	}
	return session
}

type quiet struct{}

func (quiet) Info(string)  {}
func (quiet) Warn(string)  {}
func (quiet) Error(string) {}
func (quiet) Fatal(string) {}

func TestFact01AnswersThatComeLateAreTakenForNobodys(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	const timeout = 300 * time.Millisecond
	theirs := clientSession(t, s, timeout)
	s.FailNext(2, standin.Late)
	if _, err := theirs.Execute("YIELD 101 AS x"); err == nil {
		t.Fatal("the answer was late, and the client did not mind")
	}
	s.Release()
	rs, err := theirs.Execute("YIELD 102 AS x")
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(rs); !slices.Equal(got, []string{"101"}) {
		t.Errorf("the client's session answers 102 with %v; the stand-in should show the fault, and give 101", got)
	}

	o.Timeout, o.Tries = timeout, 1
	p := testSchema(t, o)
	s.FailNext(1, standin.Late)
	if _, err := p.run(t.Context(), "YIELD 101 AS x", nil); !errors.Is(err, graph.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the answer was late, and the error is %v", err)
	}
	s.Release()
	if got := rows(must(t, p, "YIELD 102 AS x", nil)); !slices.Equal(got, []string{"102"}) {
		t.Errorf("102 was answered with %v", got)
	}
	if !p.lastLost().IsZero() {
		t.Error("what was lost was no write")
	}
}

func TestFact02NothingIsSentAgainUnasked(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	p := testSchema(t, o)
	const text = `INSERT EDGE link(x) VALUES "a"->"b":(1)`
	count := func(f func()) uint64 {
		before := s.Statements()
		s.FailNext(1, standin.CutAfter)
		f()
		return s.Statements() - before
	}
	theirs := clientSession(t, s, time.Second)
	if _, err := theirs.Execute("USE test"); err != nil {
		t.Fatal(err)
	}
	if n := count(func() { _, _ = theirs.Execute(text) }); n != 2 {
		t.Errorf("the client sent a statement %d times; the stand-in should show that it sends it twice", n)
	}
	if n := count(func() {
		if _, err := p.once(t.Context(), true, text, nil); !errors.Is(err, graph.ErrUnavailable) {
			t.Errorf("the connection was cut, and the error is %v", err)
		}
	}); n != 1 {
		t.Errorf("once sent a statement %d times", n)
	}
	if p.lastLost().IsZero() {
		t.Error("it is not known that a write was lost")
	}
	if n := count(func() { must(t, p, text, nil) }); n != 2 {
		t.Errorf("run sent a statement whose connection was cut %d times, not twice", n)
	}
	if got := rows(must(t, p, `GO FROM "a" OVER link YIELD link.x AS x`, nil)); !slices.Equal(got, []string{"1"}) {
		t.Errorf("after it was run %v times the edge is %v", 4, got)
	}
	for _, text := range []string{`UPSERT EDGE ON link "a"->"b" SET x = x + 1`, `UPDATE VERTEX ON thing "a" SET x = x + 1`} {
		if _, err := p.run(t.Context(), text, nil); code(err) != codeSyntax {
			t.Errorf("%s: %v; the stand-in should not know what can't be repeated", text, err)
		}
	}
}

// code returns the code that a graphd answered with.
func code(err error) int {
	var e *serverError
	if errors.As(err, &e) {
		return e.code
	}
	return 0
}

func TestFact03AnInsertThatFailsIsStoredInPart(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := testSchema(t, o)
		batch := func(bad string) string {
			var b strings.Builder
			for i := range 100 {
				x := "1"
				if i == 50 {
					x = bad
				}
				fmt.Fprintf(&b, `, "v%d":(%s)`, i, x)
			}
			return "INSERT VERTEX thing(x) VALUES " + b.String()[2:]
		}
		stored := func() int {
			ids := make([]string, 100)
			for i := range ids {
				ids[i] = fmt.Sprintf("v%d", i)
			}
			return must(t, p, "UNWIND $ids AS id | FETCH PROP ON thing $-.id YIELD thing.x AS x", map[string]any{"ids": ids}).GetRowSize()
		}
		if _, err := p.run(t.Context(), batch("300"), nil); code(err) != codeExecution || errors.Is(err, graph.ErrUnavailable) {
			t.Errorf("a value is out of range, and the error is %v", err)
		}
		if n := stored(); n < 50 || n >= 100 {
			t.Errorf("%d of 100 rows are stored, one of them bad: it should be those of the other partitions", n)
		}
		must(t, p, batch("3"), nil)
		if n := stored(); n != 100 {
			t.Errorf("the whole batch was sent again, and %d of 100 rows are stored", n)
		}
	})
}

func TestFact04AnEdgeIsTwoRecords(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	p := testSchema(t, o)
	ends := func(to string) (out, in []string) {
		return rows(must(t, p, `GO FROM "a" OVER link WHERE link._dst == "`+to+`" YIELD link.x AS x`, nil)),
			rows(must(t, p, `GO FROM "`+to+`" OVER link REVERSELY YIELD link.x AS x`, nil))
	}
	to := ""
	for i := range 20 {
		to = fmt.Sprintf("b%d", i)
		s.FailNext(1, standin.Half)
		if _, err := p.once(t.Context(), true, `INSERT EDGE link(x) VALUES "a"->"`+to+`":(1)`, nil); !errors.Is(err, graph.ErrUnavailable) {
			t.Fatalf("half was stored, and the error is %v", err)
		}
		if out, in := ends(to); len(out) != len(in) {
			break
		}
	}
	// What failed is sent again, whole.
	must(t, p, `INSERT EDGE link(x) VALUES "a"->"`+to+`":(1)`, nil)
	if out, in := ends(to); !slices.Equal(out, in) || !slices.Equal(out, []string{"1"}) {
		t.Errorf("after it was sent again the edge is %v from one end and %v from the other", out, in)
	}
	// Two that write one edge leave it torn, so nobody does: a key has one
	// writer, and always the same value.
	came := make(chan struct{})
	s.Fail(func(_ uint64, text string) standin.Fault {
		if strings.HasSuffix(text, "(2)") {
			close(came)
			return standin.Fault{How: standin.Torn}
		}
		return standin.Fault{}
	})
	done := make(chan error)
	go func() {
		_, err := p.run(t.Context(), `INSERT EDGE link(x) VALUES "a"->"`+to+`":(2)`, nil)
		done <- err
	}()
	<-came
	for {
		if out, in := ends(to); !slices.Equal(out, in) {
			break // half of the first is there
		}
	}
	must(t, p, `INSERT EDGE link(x) VALUES "a"->"`+to+`":(3)`, nil)
	s.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if out, in := ends(to); slices.Equal(out, in) {
		t.Errorf("two wrote 2 and 3 at once, and the edge is %v from both ends; the stand-in should show that it is not", out)
	}
}

func TestFact05HubsAreCutShortInSilence(t *testing.T) {
	_, o := startStandIn(t, standin.Options{MaxEdges: 10})
	p := testSchema(t, o)
	link := &table{name: "link", edge: true, columns: []column{{"x", "int64"}}}
	text := link.insertHead()
	for i := range 25 {
		text += fmt.Sprintf(`"hub"->"v%02d"@%d:(1), `, i, i%3)
	}
	must(t, p, strings.TrimSuffix(text, ", "), nil)
	rs := must(t, p, goFrom(link, false), map[string]any{"ids": []string{"hub"}})
	if rs.GetRowSize() != 10 || rs.GetComment() != "" {
		t.Errorf("storaged returns 10 edges of a vertex, and gave %d, with the comment %q", rs.GetRowSize(), rs.GetComment())
	}
	// A page behind the last row tells, and reads on.
	for pages := 1; ; pages++ {
		last := rs.GetRows()[rs.GetRowSize()-1].Values
		next := must(t, p, goPage(link, false, "hub", last[2].GetIVal(), string(last[1].GetSVal()), 100), nil)
		if next.GetRowSize() == 0 {
			if pages != 3 {
				t.Errorf("25 edges came in %d pages", pages)
			}
			break
		}
		rs = next
	}
}

// refusedForms are statements that lie in silence, or that walk what they
// leave out; the stand-in knows none of them.
var refusedForms = []string{
	`LOOKUP ON thing WHERE thing.x == 1 YIELD id(vertex) AS id`,
	`CREATE TAG INDEX thing_x ON thing(x)`,
	`MATCH (v:thing) RETURN count(*) AS n`,
	`MATCH (v)-[e:link]->(u) WHERE id(v) == "a" RETURN id(u) AS u`,
	`GO 1 TO 3 STEPS FROM "a" OVER link WHERE link.x == 0 YIELD link._dst AS d`,
	`GO 2 STEPS FROM "a" OVER link YIELD link._dst AS d`,
	`ALTER EDGE link TTL_DURATION = 100, TTL_COL = 'x'`,
}

func TestFacts06And07NoFormThatLiesIsKnown(t *testing.T) {
	_, o := startStandIn(t, standin.Options{})
	p := testSchema(t, o)
	for _, text := range refusedForms {
		if _, err := p.run(t.Context(), text, nil); code(err) != codeSyntax {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFact07AFilterIsAskedOneHopAtATime(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := testSchema(t, o)
		// The way to c is closed at its first hop.
		must(t, p, `INSERT EDGE link(x) VALUES "a"->"b":(1), "b"->"c":(0), "a"->"d":(0)`, nil)
		hop := func(from ...string) []string {
			rs := must(t, p, "UNWIND $ids AS id | GO FROM $-.id OVER link WHERE link.x == 0 YIELD link._dst AS d", map[string]any{"ids": from})
			return rows(rs)
		}
		if got := hop("a"); !slices.Equal(got, []string{`"d"`}) {
			t.Errorf("one hop from a meets %v", got)
		}
		if got := hop("d"); len(got) != 0 {
			t.Errorf("two hops from a meet %v", got)
		}
	})
}

func TestFact08IdsLoseTheirLastNULs(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := testSchema(t, o)
		must(t, p, "INSERT VERTEX thing(x) VALUES "+quote("v\x00")+":(1), "+quote("in\x00side")+":(2)", nil)
		if got := rows(must(t, p, `FETCH PROP ON thing "v" YIELD thing.x AS x`, nil)); !slices.Equal(got, []string{"1"}) {
			t.Errorf("v is %v, having been written as v and a NUL", got)
		}
		if n := must(t, p, `FETCH PROP ON thing "in" YIELD thing.x AS x`, nil).GetRowSize(); n != 0 {
			t.Error("an id was cut at a NUL inside of it")
		}
		if _, err := p.run(t.Context(), "INSERT VERTEX thing(x) VALUES "+quote(strings.Repeat("v", 33))+":(1)", nil); code(err) != codeExecution {
			t.Errorf("an id of 33 bytes: %v", err)
		}
	})
	// So ids are text without NULs, all of one length, and no column is cut.
	id := graph.Name{Kind: graph.DataStoreKind, Namespace: "n", Name: "t", Column: "c"}.ID().String()
	if len(id) != vidBytes || strings.ContainsRune(id, 0) {
		t.Errorf("the id %q does not have %d bytes without NULs", id, vidBytes)
	}
	for _, tab := range tables {
		for _, c := range tab.columns {
			if strings.HasPrefix(c.kind, "fixed_string") {
				t.Errorf("%s.%s is a fixed_string, which loses bytes in silence", tab.name, c.name)
			}
		}
	}
}

func TestFact09TheSpaceIsLostWhenGraphdStarts(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	p := testSchema(t, o)
	theirs := clientSession(t, s, time.Second)
	const text = `GO FROM "first" OVER link YIELD link.x AS x`
	for _, text := range []string{"USE test", text} {
		if rs, err := theirs.Execute(text); err != nil || !rs.IsSucceed() {
			t.Fatal(err, rs)
		}
	}
	s.Stop()
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if rs, err := theirs.Execute(text); err != nil || rs.GetErrorMsg() != noSpaceChosen {
		t.Errorf("the client's session goes on with %v, %v; the stand-in should have forgotten its space", rs, err)
	}
	if got := rows(must(t, p, text, nil)); !slices.Equal(got, []string{"0"}) {
		t.Errorf("after graphd was started again the answer is %v", got)
	}
	// As where something between keeps the connection.
	failed := false
	s.Fail(func(uint64, string) standin.Fault {
		if failed {
			return standin.Fault{}
		}
		failed = true
		return standin.Fault{How: standin.Refuse, Code: codeSemantic, Message: noSpaceChosen}
	})
	if got := rows(must(t, p, text, nil)); !slices.Equal(got, []string{"0"}) || !failed {
		t.Errorf("in a session without a space the answer is %v", got)
	}
}

func TestFact10EdgesNeedNoVertices(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := testSchema(t, o)
		must(t, p, `INSERT EDGE link(x) VALUES "nobody"->"nowhere":(7)`, nil)
		if got := rows(must(t, p, `GO FROM "nobody" OVER link YIELD link._dst AS d, link.x AS x`, nil)); !slices.Equal(got, []string{`"nowhere" 7`}) {
			t.Errorf("GO meets %v", got)
		}
		if got := rows(must(t, p, `GO FROM "nowhere" OVER link REVERSELY YIELD link._src AS s, link._dst AS d`, nil)); !slices.Equal(got, []string{`"nowhere" "nobody"`}) {
			t.Errorf("reversely, _src is the start and _dst the far end, and not %v", got)
		}
	})
}
