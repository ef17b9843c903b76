package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

const sqlChainQuery = `query($of: NodeRef!, $depth: Int!) { sqlChain(of: $of, depth: $depth) {
	steps { process { namespace name } dataStore { namespace name } column distance sql assumes dialect }
	complete gaps { region reason } } }`

// sqlChain asks a server for the SQL behind a column, task by task.
func sqlChain(ctx context.Context, c client, out io.Writer, namespace, name string, depth int, asJSON bool) error {
	of := map[string]any{"namespace": namespace, "name": name}
	if name, column, ok := strings.Cut(name, "#"); ok {
		of["name"], of["column"] = name, column
	}
	var raw json.RawMessage
	if err := c.graphql(ctx, sqlChainQuery, map[string]any{"of": of, "depth": depth}, &raw); err != nil {
		return err
	}
	if asJSON {
		return printJSON(out, raw)
	}
	var a struct {
		SQLChain struct {
			Steps []struct {
				Process, DataStore struct{ Namespace, Name string }
				Column, SQL        string
				Distance           int
				Assumes            []string
				Dialect            string
			}
			Complete bool
			Gaps     []struct{ Region, Reason string }
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	w := &lineWriter{w: out}
	for n, s := range a.SQLChain.Steps {
		if n > 0 {
			w.line("")
		}
		w.line("-- %d. %s %s (%s) writes %s %s#%s", n+1, s.Process.Namespace, s.Process.Name, s.Dialect, s.DataStore.Namespace, s.DataStore.Name, s.Column)
		for _, assumed := range s.Assumes {
			w.line("-- if %s", assumed)
		}
		w.line("%s;", s.SQL)
	}
	if len(a.SQLChain.Steps) == 0 {
		w.line("-- no task on the way is known by its SQL")
	}
	for _, g := range a.SQLChain.Gaps {
		w.line("-- region %s could not be asked: %s", g.Region, g.Reason)
	}
	if !a.SQLChain.Complete && len(a.SQLChain.Gaps) == 0 {
		w.line("-- cut: --depth and the server's limits allow no more")
	}
	if w.err != nil {
		return fmt.Errorf("write the chain: %w", w.err)
	}
	return nil
}
