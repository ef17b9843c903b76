package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rawAnswer posts a request and returns the body of the answer.
func rawAnswer(t testing.TB, url, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url+"/graphql", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || strings.Contains(string(b), `"errors"`) {
		t.Fatalf("%s %s %v", res.Status, b, err)
	}
	return string(b)
}

func metric(t testing.TB, url, name string) int {
	t.Helper()
	res, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no metric %s", name)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An answer is given again over re-runs that change nothing and over changes
// elsewhere, and not once a node that it touched has changed.
func TestAnswersAreKeptAsLongAsTheyHold(t *testing.T) {
	url := serveForTest(t, sqlConfig(t))
	minute := 0
	run := func(job, sql string) {
		minute++
		post(t, url, "["+sqlEvent("spark-batch", job, sql, minute)+"]")
	}
	run("a", "INSERT INTO m.b SELECT x FROM m.a")
	run("b", "INSERT INTO m.c SELECT x FROM m.b")
	run("far", "INSERT INTO m.z SELECT x FROM m.y")
	lineage := func(more string) string {
		return fmt.Sprintf(`{ lineage(of: {namespace: %q, name: "m.c"}, direction: UPSTREAM, depth: 5) { nodes { distance node { name %s } } edges { kinds } complete } }`, hive, more)
	}
	given := func(query string) (answer string, again bool) {
		before := metric(t, url, "headwater_answers_given_again_total")
		answer = rawAnswer(t, url, query)
		return answer, metric(t, url, "headwater_answers_given_again_total") > before
	}
	keep := func(query string) string {
		for range 100 { // what is put is there a little later
			if answer, again := given(query); again {
				return answer
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("never kept: %s", query)
		return ""
	}
	first := keep(lineage(""))
	if !strings.Contains(first, "m.a") {
		t.Fatalf("got %s", first)
	}
	run("a", "INSERT INTO m.b SELECT x FROM m.a") // unchanged
	run("far", "INSERT INTO m.z SELECT x, 1 AS y FROM m.y")
	if answer, again := given(lineage("")); !again || answer != first {
		t.Errorf("after changes elsewhere: kept %v, %s", again, answer)
	}
	run("a", "INSERT INTO m.b SELECT x FROM m.other")
	if answer, again := given(lineage("")); again || !strings.Contains(answer, "m.other") || strings.Contains(answer, `"m.a"`) {
		t.Errorf("after a change two hops away: kept %v, %s", again, answer)
	}
	keep(lineage(""))
	post(t, url, "["+schemaEvent(hive, "m.other", 1, "x")+"]")
	if answer, again := given(lineage("... on DataStore { columns { nodes { path } } }")); again || !strings.Contains(answer, `"x"`) {
		t.Errorf("kept %v, %s", again, answer)
	}
	// Runs that change nothing move what they refresh.
	query := fmt.Sprintf(`{ node(of: {namespace: %q, name: "m.c"}) { ... on DataStore { producers { name lastRun { id } } } } }`, hive)
	before := rawAnswer(t, url, query)
	run("b", "INSERT INTO m.c SELECT x FROM m.b")
	if after := rawAnswer(t, url, query); after == before {
		t.Errorf("the last run is still %s", after)
	}
}
