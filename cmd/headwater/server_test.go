package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inputsDir returns a folder of the shared inputs, or skips.
func inputsDir(t testing.TB, sub string) string {
	t.Helper()
	dir := filepath.Join(cmp.Or(os.Getenv("HEADWATER_INPUTS"), "../../../shared/inputs"), sub)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("skipped: no inputs")
	}
	return dir
}

// serveForTest runs a server in this process until the test ends, and returns
// its base URL. The settings are the defaults but for what change changes.
func serveForTest(t testing.TB, change ...func(*config)) string {
	t.Helper()
	c := defaultConfig()
	c.Listen, c.Data, c.MinFree, c.Cache = "127.0.0.1:0", t.TempDir(), -1, 8<<20
	for _, f := range change {
		f(&c)
	}
	s, err := open(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return startForTest(t, s.run)
}

// startForTest runs a server until the test ends.
func startForTest(t testing.TB, run func(context.Context, func(url string)) error) string {
	t.Helper()
	url, stop, err := started(run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return url
}

// post posts a batch of events and waits until they can be read.
func post(t testing.TB, url, events string) {
	t.Helper()
	res, err := http.Post(url+"/api/v1/lineage/batch?wait=applied", "application/json", strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"status":"success"`)) {
		t.Fatalf("post events: %s %s %v", res.Status, body, err)
	}
}

// ask asks a GraphQL question; it fails the test on any error but those whose
// code it returns.
func ask(t testing.TB, url, query string, variables map[string]any, into any) (code string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url+"/graphql", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Errors) > 0 {
		e := answer.Errors[0]
		if e.Extensions.Code == "" || e.Extensions.Code == "INTERNAL" {
			t.Fatalf("%s: %s", query, e.Message)
		}
		return e.Extensions.Code
	}
	if into != nil {
		if err := json.Unmarshal(answer.Data, into); err != nil {
			t.Fatal(err)
		}
	}
	return ""
}
