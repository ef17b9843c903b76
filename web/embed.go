// Package web holds what browsers load, built and committed, so that a server
// needs nothing from elsewhere.
package web

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// The editor is built by graphiql/build: `npm ci && npm run build` there
// writes graphiql.js, graphiql.css and LICENSES.txt again.
//
//go:embed graphiql/index.html graphiql/graphiql.js graphiql/graphiql.css graphiql/LICENSES.txt
var graphiql embed.FS

// GraphiQLFiles are index.html, graphiql.js, graphiql.css and LICENSES.txt.
func GraphiQLFiles() fs.FS {
	sub, err := fs.Sub(graphiql, "graphiql")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}

// graphiqlPolicy lets the page load its own files and ask its own server, and
// nothing else. Scripts are files; styles need 'unsafe-inline' for the style
// elements that dialogs add to keep the page behind them from scrolling.
const graphiqlPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// GraphiQL serves the GraphQL editor. Mount it at /graphiql and /graphiql/,
// beside the GraphQL handler at /graphql; both may have a common prefix.
func GraphiQL() http.Handler {
	files := GraphiQLFiles()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		_, name, inside := strings.Cut(path.Clean(r.URL.Path)+"/", "/graphiql/")
		switch name = strings.TrimSuffix(name, "/"); {
		case !inside:
			http.NotFound(w, r)
			return
		case name == "" && strings.HasSuffix(r.URL.Path, "/"):
			// The links of the page are relative to its folder.
			w.Header().Set("Location", "../graphiql")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		case name == "":
			name = "index.html"
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", graphiqlPolicy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	})
}
