package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/graphiql", GraphiQL())
	mux.Handle("/graphiql/", GraphiQL())
	mux.Handle("/behind/a/proxy/", GraphiQL())
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestGraphiQLServesItsFiles(t *testing.T) {
	for path, want := range map[string]string{
		"/graphiql":                             "text/html; charset=utf-8",
		"/graphiql/graphiql.js":                 "text/javascript; charset=utf-8",
		"/graphiql/graphiql.css":                "text/css; charset=utf-8",
		"/graphiql/LICENSES.txt":                "text/plain; charset=utf-8",
		"/behind/a/proxy/graphiql":              "text/html; charset=utf-8",
		"/behind/a/proxy/graphiql/graphiql.css": "text/css; charset=utf-8",
	} {
		w := get(t, path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want {
			t.Errorf("%s: status %d, type %q", path, w.Code, w.Header().Get("Content-Type"))
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self';") {
			t.Errorf("%s: policy %q", path, w.Header().Get("Content-Security-Policy"))
		}
	}
	for _, path := range []string{"/graphiql/nope", "/graphiql/build/package.json", "/behind/a/proxy/x", "/graphiql/graphiql"} {
		if w := get(t, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	if w := get(t, "/graphiql/"); w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != "../graphiql" {
		t.Errorf("with a slash: status %d to %q", w.Code, w.Header().Get("Location"))
	}
	w := httptest.NewRecorder()
	GraphiQL().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/graphiql", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", w.Code)
	}
}

// The page must work without any other host and under its policy.
func TestGraphiQLLoadsNothingFromElsewhere(t *testing.T) {
	page := get(t, "/graphiql").Body.String()
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if m[1] == "data:," {
			continue
		}
		if w := get(t, "/"+m[1]); w.Code != http.StatusOK {
			t.Errorf("the page loads %s: status %d", m[1], w.Code)
		}
	}
	if regexp.MustCompile(`<script>|<style>| on[a-z]+=|style=`).MatchString(page) {
		t.Error("the page has something inline")
	}
	css := get(t, "/graphiql/graphiql.css").Body.String()
	if m := regexp.MustCompile(`url\(["']?(?:https?:)?//|@import`).FindString(css); m != "" {
		t.Errorf("the style sheet loads %s", m)
	}
	total := 0
	err := fs.WalkDir(GraphiQLFiles(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		total += int(info.Size())
		return err
	})
	if err != nil || total > 3<<20 {
		t.Errorf("%d bytes, error %v", total, err)
	}
}
