package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"headwater/graph"
)

// SetNamespaceRule says whose tables a namespace means.
type SetNamespaceRule struct {
	NamespaceRule
	// Was is the region that the namespace belongs to by the rule that this
	// one replaces; empty where there is none or it is Apart. So a second rule
	// for one namespace is never made unawares.
	Was string `json:"was,omitempty"`
}

// RemoveNamespaceRule withdraws the rule of a namespace.
type RemoveNamespaceRule struct {
	Namespace string `json:"namespace"`
}

// SetAlias says that one name stands for another, or for another than before.
type SetAlias struct{ Alias }

// RemoveAlias withdraws an alias.
type RemoveAlias struct {
	From Name `json:"from"`
}

// SetNamingRule adds a naming rule, or changes what it gives.
type SetNamingRule struct{ NamingRule }

// RemoveNamingRule withdraws a naming rule.
type RemoveNamingRule struct {
	Region    string `json:"region,omitempty"`
	Namespace string `json:"namespace"`
	Prefix    string `json:"prefix,omitempty"`
}

func (SetNamespaceRule) kind() string    { return "namespace.set" }
func (RemoveNamespaceRule) kind() string { return "namespace.remove" }
func (SetAlias) kind() string            { return "alias.set" }
func (RemoveAlias) kind() string         { return "alias.remove" }
func (SetNamingRule) kind() string       { return "naming.set" }
func (RemoveNamingRule) kind() string    { return "naming.remove" }

func (c SetNamespaceRule) apply(e *edit) error {
	if err := checkNamespace(c.Namespace); err != nil {
		return err
	}
	switch {
	case c.Apart && c.Region != "":
		return refused("namespace %q: it is apart or region %q's, not both", c.Namespace, c.Region)
	case !c.Apart && c.Region == "":
		return refused("namespace %q: the region is missing", c.Namespace)
	case !c.Apart:
		if err := e.checkRegion(c.Region); err != nil {
			return err
		}
	}
	key := foldNamespace(c.Namespace)
	was, ok := e.namespaces.get(key)
	now := c.NamespaceRule
	switch {
	case ok && was == now:
		return nil
	case !ok && c.Was != "":
		return refused("namespace %q has no rule, so it was not region %q's", c.Namespace, c.Was)
	case ok && was.Region != now.Region && was.Region != c.Was:
		return refused("namespace %q belongs to region %q by a rule already; say that it was to replace it", c.Namespace, was.Region)
	}
	e.namespaces = e.namespaces.with(key, now)
	e.noteSet(c.Namespace, was, ok, now)
	return e.rulesChanged()
}

func (c RemoveNamespaceRule) apply(e *edit) error {
	key := foldNamespace(c.Namespace)
	was, ok := e.namespaces.get(key)
	if !ok {
		return refused("namespace %q has no rule", c.Namespace)
	}
	e.namespaces = e.namespaces.without(key)
	e.note(c.Namespace, was, nil)
	return e.rulesChanged()
}

func (c SetNamingRule) apply(e *edit) error {
	for _, ns := range [...]string{c.Namespace, c.ToNamespace} {
		if err := checkNamespace(ns); err != nil {
			return err
		}
	}
	for _, p := range [...]string{c.Prefix, c.ToPrefix} {
		if len(p) > graph.MaxName || !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
			return refused("naming rule %s: prefix %.40q can't begin a name", c.NamingRule, p)
		}
	}
	for _, r := range [...]string{c.Region, c.ToRegion} {
		if r != "" {
			if err := e.checkRegion(r); err != nil {
				return err
			}
		}
	}
	was, ok := e.naming.get(c.key())
	if ok && was == c.NamingRule {
		return nil
	}
	e.naming = e.naming.with(c.key(), c.NamingRule)
	e.noteSet(c.NamingRule.String(), was, ok, c.NamingRule)
	if err := e.circle(); err != nil {
		return err
	}
	return e.rulesChanged()
}

func (c RemoveNamingRule) apply(e *edit) error {
	r := NamingRule{Region: c.Region, Namespace: c.Namespace, Prefix: c.Prefix}
	was, ok := e.naming.get(r.key())
	if !ok {
		return refused("there is no naming rule %s", r)
	}
	e.naming = e.naming.without(r.key())
	e.note(r.String(), was, nil)
	return e.rulesChanged()
}

// rulesChanged sees that all names still end somewhere and all members of
// global tables are still apart, under rules that may concern any of them.
func (e *edit) rulesChanged() error {
	if err := e.followAll(); err != nil {
		return err
	}
	owners, err := e.placed(slices.Collect(e.Tables())...)
	e.owners = owners
	return err
}

func (c SetAlias) apply(e *edit) error {
	for _, n := range [...]Name{c.From, c.To} {
		if err := e.checkName(n); err != nil {
			return err
		}
	}
	if c.From.key() == c.To.key() {
		return refused("%s stands for itself already", c.From)
	}
	was, ok := e.aliases.get(c.From.key())
	if ok && was == c.Alias {
		return nil
	}
	before := e.place(c.From)
	e.aliases = e.aliases.with(c.From.key(), c.Alias)
	e.noteSet(c.From.String(), was, ok, c.Alias)
	return e.aliasChanged(c.From, before)
}

func (c RemoveAlias) apply(e *edit) error {
	was, ok := e.aliases.get(c.From.key())
	if !ok {
		return refused("%s is no alias", c.From)
	}
	before := e.place(c.From)
	e.aliases = e.aliases.without(c.From.key())
	e.note(c.From.String(), was, nil)
	return e.aliasChanged(c.From, before)
}

// aliasChanged is rulesChanged for names that stood for the place before by
// way of from. At most one member stands there. A circle that is new, or a
// chain that became too long, may begin at any alias that leads to from.
func (e *edit) aliasChanged(from Name, before string) error {
	if err := e.follow(from); err != nil {
		return err
	}
	if err := e.followAll(); err != nil {
		return err
	}
	o, ok := e.owners.get(before)
	if !ok {
		return nil
	}
	now := e.place(o.member)
	if now == before {
		return nil
	}
	if other, taken := e.owners.get(now); taken {
		return refused("%s", twoPlaces(other, o))
	}
	e.owners = e.owners.without(before).with(now, o)
	return nil
}

// checkName refuses what is no name of a data store in a known region.
func (s *State) checkName(n Name) error {
	if err := n.Graph().Check(); err != nil {
		return refused("%s: %v", n, err)
	}
	return s.checkRegion(n.Region)
}

func checkNamespace(ns string) error {
	err := graph.Name{Kind: graph.DataStoreKind, Namespace: ns, Name: "x"}.Check()
	if err != nil {
		return refused("namespace %.40q: %v", ns, err)
	}
	return nil
}

func (a Alias) String() string { return fmt.Sprintf("%s → %s", a.From, a.To) }
