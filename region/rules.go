package region

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"headwater/graph"
)

// The origins of what headwater itself says.
const (
	// OriginDeclared is for what people declare: deletions.
	OriginDeclared = "declared"
	// OriginRule is for aliases that the configuration gives.
	OriginRule = "rule"
)

// Rules are the aliases and naming rules of a configuration.
type Rules struct {
	// Aliases say that one name stands for another.
	Aliases []AliasRule
	// Naming rules give every data store of a namespace whose name has a
	// prefix another name: a Trino catalog "hive." in the namespace
	// trino://host:8080 becomes the namespace hive://metastore:9083.
	Naming []NamingRule
}

// An AliasRule says that From stands for To.
type AliasRule struct {
	FromNamespace, FromName, ToNamespace, ToName string
}

// A NamingRule replaces namespace and prefix.
type NamingRule struct {
	Namespace, Prefix     string
	ToNamespace, ToPrefix string
}

// Check says which rule can't be followed.
func (r *Rules) Check() error {
	for i, a := range r.Aliases {
		if a.FromNamespace == "" || a.FromName == "" || a.ToNamespace == "" || a.ToName == "" {
			return fmt.Errorf("alias %d: from and to need a namespace and a name each", i+1)
		}
	}
	for i, n := range r.Naming {
		if n.Namespace == "" || n.ToNamespace == "" {
			return fmt.Errorf("naming rule %d: namespace and toNamespace are needed", i+1)
		}
		if n.Namespace == n.ToNamespace && strings.HasPrefix(n.ToPrefix, n.Prefix) {
			return fmt.Errorf("naming rule %d: its results match it again", i+1)
		}
	}
	return nil
}

// of returns the name that rules give a data store; false where none does.
func (r *Rules) of(n graph.Name) (graph.Name, bool) {
	ns, name := n.Folded()
	for _, rule := range r.Naming {
		from := graph.Name{Kind: graph.DataStoreKind, Namespace: rule.Namespace, Name: rule.Prefix}
		fromNS, prefix := from.Folded()
		if ns == fromNS && strings.HasPrefix(name, prefix) && len(name) > len(prefix) {
			n.Namespace, n.Name = rule.ToNamespace, rule.ToPrefix+name[len(prefix):]
			return n, true
		}
	}
	return n, false
}

// ruleTime is the time of what rules say of names that are new: it always
// held.
const ruleTime = 1

// aliasDelta says, for a rule, that from stands for to.
func aliasDelta(from, to graph.Name, at int64) graph.Delta {
	return graph.Delta{Subject: from, Origin: OriginRule, Time: at, Says: graph.Content{Writes: []graph.Dataset{{Name: from, Aliases: []graph.Alias{{From: from, To: to}}}}}}
}

// withRules adds to events what the naming rules say of names that they have
// not been applied to.
func (n *Node) withRules(events [][]graph.Delta) [][]graph.Delta {
	if len(n.o.Rules.Naming) == 0 {
		return events
	}
	for i, deltas := range events {
		for j := range deltas {
			deltas[j].Says.Mentions(deltas[j].Subject, func(name graph.Name, _ bool) {
				if name.Kind != graph.DataStoreKind || name.Column != "" {
					return
				}
				if to, ok := n.o.Rules.of(name); ok {
					if _, done := n.named.LoadOrStore(name.ID(), true); !done {
						events[i] = append(events[i], aliasDelta(name, to, ruleTime))
					}
				}
			})
		}
	}
	return events
}

// all returns the alias that the rules give each name, by the name's id.
func (r *Rules) all(region string, names func(func(graph.Name, error) bool)) (map[graph.ID][2]graph.Name, error) {
	want := map[graph.ID][2]graph.Name{}
	for name, err := range names {
		if err != nil {
			return nil, err
		}
		if to, ok := r.of(name); ok && name.Kind == graph.DataStoreKind {
			want[name.ID()] = [2]graph.Name{name, to}
		}
	}
	for _, a := range r.Aliases {
		from := graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: a.FromNamespace, Name: a.FromName}
		to := graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: a.ToNamespace, Name: a.ToName}
		want[from.ID()] = [2]graph.Name{from, to}
	}
	return want, nil
}

// ApplyRules brings the aliases that rules give to all known names in line
// with the rules of the configuration. It does nothing where these are what
// they were when it last ran.
func (n *Node) ApplyRules(ctx context.Context) error {
	rules, err := json.Marshal(n.o.Rules)
	if err != nil {
		return err
	}
	const kept = "rules"
	before, err := n.log.Kept(kept)
	if err != nil {
		return err
	}
	empty, _ := json.Marshal(Rules{})
	if bytes.Equal(rules, before) || before == nil && bytes.Equal(rules, empty) {
		return nil
	}
	want, err := n.o.Rules.all(n.o.Region, n.store.Names(ctx))
	if err != nil {
		return err
	}
	now := time.Now().UnixNano()
	var events [][]graph.Delta
	var given []graph.ID
	for r, err := range n.store.Contributions(ctx, graph.Key{}) {
		if err != nil {
			return err
		}
		if r.Origin == OriginRule {
			given = append(given, r.Subject.ID())
		}
	}
	v, err := n.store.View(ctx, graph.At{})
	if err != nil {
		return err
	}
	_, err = v.Says(ctx, given, func(s graph.Said) error {
		if s.Record.Origin != OriginRule || s.Content == nil {
			return nil
		}
		id := s.Record.Subject.ID()
		to, ok := want[id]
		for _, w := range s.Content.Writes {
			for _, a := range w.Aliases {
				if ok && a.To.ID() == to[1].ID() {
					delete(want, id)
					return nil
				}
			}
		}
		if !ok {
			events = append(events, []graph.Delta{{Subject: s.Record.Subject, Origin: OriginRule, State: graph.Deleting, Time: now}})
		}
		return nil
	})
	if err = errors.Join(err, v.Close()); err != nil {
		return err
	}
	for _, pair := range want {
		events = append(events, []graph.Delta{aliasDelta(pair[0], pair[1], now)})
	}
	for part := range slices.Chunk(events, 256) {
		if _, err := n.append(ctx, part); err != nil {
			return err
		}
	}
	return n.log.Keep(kept, rules)
}
