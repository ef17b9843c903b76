package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gatewayForTest runs a gateway in this process until the test ends, and
// returns its base URL and its raft address. The settings are the defaults but
// for what change changes.
func gatewayForTest(t *testing.T, change ...func(*gatewayConfig)) (url, raft string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := defaultGateway()
	c.Listen, c.Data, c.Raft = "127.0.0.1:0", t.TempDir(), ln.Addr().String()
	for _, f := range change {
		f(&c)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	s := &gatewayServer{c: c, log: slog.New(slog.DiscardHandler)}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	return startForTest(t, s.run), c.Raft
}

// adminHere runs headwater admin in this process against a server; it must
// end well.
func adminHere(t *testing.T, url string, args ...string) string {
	t.Helper()
	code, out, log := runHere(append([]string{"admin", "--server", url}, args...)...)
	if code != 0 || log != "" {
		t.Fatalf("headwater admin %s: exit code %d, on standard error %q", strings.Join(args, " "), code, log)
	}
	return out
}

func TestAdminShowsListsOfManyPagesWhole(t *testing.T) {
	url, _ := gatewayForTest(t)
	adminHere(t, url, "region", "set", "eu", "127.0.0.1:1")
	const n = 2*adminPage + 500
	var members strings.Builder
	for i := range n {
		fmt.Fprintf(&members, "eu\thive://m:9083\tshop.part_%04d\n", i)
	}
	file := filepath.Join(t.TempDir(), "members.tsv")
	if err := os.WriteFile(file, []byte(members.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	adminHere(t, url, "table", "declare", "orders", "PARTITIONED", "--file", file)
	lines := strings.Split(strings.TrimSpace(adminHere(t, url, "table", "show", "orders")), "\n")
	if len(lines) != 2+n || lines[0] != "orders, PARTITIONED, declared, 2500 members" || lines[n+1] != "eu      hive://m:9083  shop.part_2499  declared" || len(slices.Compact(lines)) != len(lines) {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	var shown struct{ Members []struct{ Name string } }
	if err := json.Unmarshal([]byte(adminHere(t, url, "table", "show", "orders", "--json")), &shown); err != nil || len(shown.Members) != n {
		t.Errorf("%d members as JSON, %v", len(shown.Members), err)
	}
}

func TestAGatewayThatJoinsTakesChangesAndLeaves(t *testing.T) {
	one, _ := gatewayForTest(t)
	adminHere(t, one, "region", "set", "eu", "127.0.0.1:1")
	two, raft := gatewayForTest(t, func(c *gatewayConfig) { c.Name, c.First = "g2", peers{none: true} })
	join := []string{"gateway", "join", "g2", raft, two}
	if out := adminHere(t, one, join...); strings.Contains(out, "as it was") {
		t.Errorf("g2 joins: %s", out)
	}
	if out := adminHere(t, one, join...); !strings.Contains(out, "as it was") {
		t.Errorf("g2 joins again: %s", out)
	}
	// g2 forwards what it is asked to g1, and shows it.
	adminHere(t, two, "region", "set", "us", "127.0.0.1:2")
	const want = "REGION  ADDRESSES    NOTE\neu      127.0.0.1:1  -\nus      127.0.0.1:2  -\n"
	for _, url := range []string{one, two} {
		if out := adminHere(t, url, "region", "list"); out != want {
			t.Errorf("at %s:\n%s", url, out)
		}
	}
	adminHere(t, one, "gateway", "leave", "g2")
	if out := adminHere(t, one, "gateway", "list"); strings.Contains(out, "g2") || !strings.Contains(out, "g1") {
		t.Errorf("after g2 left:\n%s", out)
	}
	adminHere(t, one, "region", "remove", "us")
}

func TestADataCatalogFeedsMembersWithTheToken(t *testing.T) {
	url, _ := gatewayForTest(t, func(c *gatewayConfig) { c.Token = "s3cret" })
	adminHere(t, url, "region", "set", "eu", "127.0.0.1:1", "--token", "s3cret")
	feed := func(method, token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+"/api/v1/regions/eu/members", strings.NewReader(`{"members":[{"table":"orders","kind":"REPLICATED","namespace":"hive://m:9083","name":"shop.orders"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set(userHeader, "metastore")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		if status, body := feed(method, "wrong"); status != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token: %d, %s", method, status, body)
		}
	}
	if status, body := feed(http.MethodPost, "s3cret"); status != http.StatusOK || !strings.Contains(body, `"changed":true`) {
		t.Errorf("%d, %s", status, body)
	}
	if status, body := feed(http.MethodGet, "s3cret"); status != http.StatusOK || !strings.Contains(body, `"name":"shop.orders"`) {
		t.Errorf("%d, %s", status, body)
	}
	if out := adminHere(t, url, "table", "show", "orders"); !strings.Contains(out, "orders, REPLICATED, fed by data catalogs, 1 members") || !strings.Contains(out, "catalog:eu") {
		t.Errorf("orders:\n%s", out)
	}
	// The gateway enters itself when it has read enough: that may come last.
	if out := adminHere(t, url, "audit", "--limit", "10"); !strings.Contains(out, "metastore") {
		t.Errorf("the audit trail:\n%s", out)
	}
}

func TestEveryVerbOfAdminIsToldFromTheOthers(t *testing.T) {
	verbs := adminVerbs()
	for i, v := range verbs {
		for j, w := range verbs {
			words, others := v.words(), w.words()
			if i != j && len(words) <= len(others) && slices.Equal(words, others[:len(words)]) {
				t.Errorf("%q hides %q", v.use, w.use)
			}
		}
	}
}
