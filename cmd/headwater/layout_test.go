package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "headwater/"

// layout is the architecture: each package with all that it may import from
// this module. "*" is anything.
var layout = map[string][]string{
	// It knows nothing but the machine.
	"background": {},

	"graph":           {},
	"graph/graphtest": {"graph"},
	"graph/topology":  {"graph"},
	"graph/pebble":    {"background", "graph", "graph/topology"},
	"graph/nebula":    {"graph", "graph/pebble", "graph/topology"},
	// It takes the place of a server in tests, and knows nothing of ours.
	"graph/nebula/standin": {},

	"ingest":             {"graph"},
	"ingest/openlineage": {"graph", "ingest"},
	"ingest/source":      {"background", "graph", "ingest"},
	// SQL knows no graph.
	"ingest/sql/syntax": {},
	"ingest/sql":        {"ingest/sql/syntax"},
	"ingest/sql/score":  {"ingest/sql", "ingest/sql/syntax"},
	"ingest/derive":     {"graph", "ingest/sql", "ingest/sql/syntax"},

	"region":              {"background", "graph", "ingest", "region/bus", "region/log"},
	"region/log":          {"graph"},
	"region/bus":          {"graph"},
	"region/bus/bustest":  {"graph", "region/bus"},
	"region/bus/embedded": {"graph", "region/bus"},
	"region/bus/kafka":    {"graph", "region/bus"},
	"region/rpc":          {"graph"},

	"gateway":            {"background", "gateway/api", "gateway/border", "gateway/catalog", "gateway/federation", "graph", "region/bus", "region/bus/embedded", "region/bus/kafka", "region/rpc"},
	"gateway/border":     {"gateway/catalog", "graph"},
	"gateway/cache":      {"graph"},
	"gateway/catalog":    {"graph"},
	"gateway/federation": {"gateway/border", "graph"},
	"gateway/api":        {"gateway/cache", "gateway/catalog", "graph", "ingest/derive", "ingest/sql", "ingest/sql/syntax"},

	"web":                {},
	"cmd/headwater":      {"*"},
	"cmd/headwater/shop": {"ingest/sql", "ingest/sql/syntax"},
	// It measures all of it.
	"cmd/headwater/bench": {"graph", "graph/graphtest", "graph/pebble"},
}

// homes says which packages may import each large dependency.
var homes = map[string][]string{
	"github.com/cockroachdb/pebble/v2":    {"graph/pebble", "region", "region/log"},
	"github.com/dgraph-io/ristretto/v2":   {"gateway/cache", "graph/pebble"},
	"github.com/jackc/pgx/v5":             {"cmd/headwater/bench"},
	"github.com/vesoft-inc/nebula-go/v3":  {"graph/nebula", "graph/nebula/standin"},
	"github.com/vesoft-inc/fbthrift":      {"graph/nebula", "graph/nebula/standin"},
	"github.com/99designs/gqlgen":         {"gateway/api"},
	"github.com/hashicorp/raft":           {"gateway/catalog"},
	"github.com/hashicorp/raft-boltdb/v2": {"gateway/catalog"},
	"github.com/hashicorp/go-hclog":       {"gateway/catalog"},
	"go.etcd.io/bbolt":                    {"gateway/catalog"},
	"github.com/go-json-experiment/json":  {"ingest/openlineage", "ingest/source"},
	"go.yaml.in/yaml/v3":                  {"cmd/headwater"},
	"github.com/prometheus/client_golang": {"cmd/headwater"},
	"github.com/twmb/franz-go":            {"region/bus/kafka"},
	"github.com/vikstrous/dataloadgen":    {"gateway/api"},
	"github.com/vektah/gqlparser/v2":      {"gateway/api"},
	"github.com/klauspost/compress":       {"region/rpc"},
	"github.com/google/go-cmp":            {"region/bus/bustest"},
	"pgregory.net/rapid":                  {"region/bus/bustest"},
	"go.uber.org/goleak":                  {},
}

func TestImportsFollowTheLayout(t *testing.T) {
	root := os.DirFS("../..")
	seen := map[string]bool{}
	err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := path.Dir(file)
		allowed, ok := layout[pkg]
		if !ok {
			t.Errorf("%s: package %q is not in the layout; add it, and say what it may import", file, pkg)
			return nil
		}
		seen[pkg] = true
		src, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if in, ok := strings.CutPrefix(imp, module); ok {
				if !slices.Contains(allowed, in) && !slices.Contains(allowed, "*") {
					t.Errorf("%s imports %s, which the layout does not allow", file, in)
				}
				continue
			}
			if pkg == "graph" && strings.Contains(strings.Split(imp, "/")[0], ".") {
				t.Errorf("%s imports %s; graph imports only the standard library", file, imp)
			}
			for dep, pkgs := range homes {
				if (imp == dep || strings.HasPrefix(imp, dep+"/")) && !slices.Contains(pkgs, pkg) {
					t.Errorf("%s imports %s, which lives only in %v", file, imp, pkgs)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range layout {
		if !seen[pkg] {
			t.Errorf("the layout lists %s, which is gone", pkg)
		}
	}
}
