package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"headwater/gateway/catalog"
)

// change makes a change of the catalog, under the id of the client's or a new
// one.
func (m *mutation) change(ctx context.Context, id *string, do catalog.Change) (*CatalogChange, error) {
	who, err := m.who(ctx)
	if err != nil {
		return nil, err
	}
	reading, cancel := sessionOf(ctx).reading(ctx)
	defer cancel()
	c := catalog.Command{ID: cmp.Or(deref(id), rand.Text()), Who: who, Do: do}
	res, err := m.o.Catalog.Change(reading, c)
	if err != nil {
		return nil, catalogFault(err, c.ID)
	}
	return &CatalogChange{Version: int(res.Version), Changed: res.Changed, ClientMutationID: c.ID}, nil
}

// who names who changes the catalog, or says why nobody may.
func (m *mutation) who(ctx context.Context) (string, error) {
	if m.o.Catalog == nil {
		return "", noCatalog
	}
	return m.o.Who(ctx)
}

// catalogFault is an error of the catalog for the client. id is that of the
// command, if it can be asked for again under one.
func catalogFault(err error, id string) error {
	switch {
	case errors.Is(err, catalog.ErrRefused):
		_, reason, _ := strings.Cut(err.Error(), catalog.ErrRefused.Error()+": ")
		return &fault{code: codeBadInput, message: reason}
	case errors.Is(err, catalog.ErrUnknown) && id != "":
		return &fault{code: codeUnavailable, message: err.Error(), extensions: map[string]any{"clientMutationId": id}}
	case errors.Is(err, catalog.ErrUnknown), errors.Is(err, catalog.ErrNoQuorum):
		return &fault{code: codeUnavailable, message: err.Error()}
	}
	return err
}

// SetRegion is Mutation.setRegion.
func (m *mutation) SetRegion(ctx context.Context, name string, addresses []string, note string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.SetRegion{Region: catalog.Region{Name: name, Addresses: addresses, Note: note}})
}

// RemoveRegion is Mutation.removeRegion.
func (m *mutation) RemoveRegion(ctx context.Context, name string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveRegion{Name: name})
}

// SetNamespaceRule is Mutation.setNamespaceRule.
func (m *mutation) SetNamespaceRule(ctx context.Context, namespace, region string, apart bool, was, why string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: namespace, Region: region, Apart: apart, Why: why}, Was: was})
}

// RemoveNamespaceRule is Mutation.removeNamespaceRule.
func (m *mutation) RemoveNamespaceRule(ctx context.Context, namespace string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveNamespaceRule{Namespace: namespace})
}

// SetAlias is Mutation.setAlias.
func (m *mutation) SetAlias(ctx context.Context, from, to catalog.Name, why string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.SetAlias{Alias: catalog.Alias{From: from, To: to, Why: why}})
}

// RemoveAlias is Mutation.removeAlias.
func (m *mutation) RemoveAlias(ctx context.Context, from catalog.Name, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveAlias{From: from})
}

// SetNamingRule is Mutation.setNamingRule.
func (m *mutation) SetNamingRule(ctx context.Context, region, namespace, prefix, toRegion, toNamespace, toPrefix, why string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.SetNamingRule{NamingRule: catalog.NamingRule{
		Region: region, Namespace: namespace, Prefix: prefix, ToRegion: toRegion, ToNamespace: toNamespace, ToPrefix: toPrefix, Why: why,
	}})
}

// RemoveNamingRule is Mutation.removeNamingRule.
func (m *mutation) RemoveNamingRule(ctx context.Context, region, namespace, prefix string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveNamingRule{Region: region, Namespace: namespace, Prefix: prefix})
}

// DeclareGlobalTable is Mutation.declareGlobalTable.
func (m *mutation) DeclareGlobalTable(ctx context.Context, name string, kind catalog.TableKind, members []*catalog.Name, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.DeclareTable{Name: name, Kind: kind, Members: names(members)})
}

// ChangeGlobalTableMembers is Mutation.changeGlobalTableMembers.
func (m *mutation) ChangeGlobalTableMembers(ctx context.Context, name string, add, remove []*catalog.Name, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.DeclareMembers{Table: name, Add: names(add), Remove: names(remove)})
}

func names(list []*catalog.Name) []catalog.Name {
	out := make([]catalog.Name, len(list))
	for i, n := range list {
		out[i] = *n
	}
	return out
}

// RemoveGlobalTable is Mutation.removeGlobalTable.
func (m *mutation) RemoveGlobalTable(ctx context.Context, name string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveTable{Name: name})
}

// SetFilter is Mutation.setFilter.
func (m *mutation) SetFilter(ctx context.Context, name string, match catalog.Pattern, reason, owner string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.SetFilter{Filter: catalog.Filter{Name: name, Match: match, Reason: reason, Owner: owner}})
}

// RemoveFilter is Mutation.removeFilter.
func (m *mutation) RemoveFilter(ctx context.Context, name string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveFilter{Name: name})
}

// SetNotice is Mutation.setNotice.
func (m *mutation) SetNotice(ctx context.Context, name string, match catalog.Pattern, text, owner string, until, id *string) (*CatalogChange, error) {
	n := catalog.Notice{Name: name, Match: match, Text: text, Owner: owner}
	if until != nil {
		t, err := parseTime("until", *until)
		if err != nil {
			return nil, err
		}
		n.Until = t.UnixNano()
	}
	return m.change(ctx, id, catalog.SetNotice{Notice: n})
}

// RemoveNotice is Mutation.removeNotice.
func (m *mutation) RemoveNotice(ctx context.Context, name string, id *string) (*CatalogChange, error) {
	return m.change(ctx, id, catalog.RemoveNotice{Name: name})
}

// JoinGateway is Mutation.joinGateway.
func (m *mutation) JoinGateway(ctx context.Context, name, raft, url string) (*GatewaysChange, error) {
	p := catalog.Peer{Name: name, Address: raft, Serves: url}
	return m.members(ctx, func(before []catalog.Peer) bool { return slices.Contains(before, p) }, func(ctx context.Context, who string) error {
		return m.o.Catalog.Join(ctx, who, p)
	})
}

// LeaveGateway is Mutation.leaveGateway.
func (m *mutation) LeaveGateway(ctx context.Context, name string) (*GatewaysChange, error) {
	gone := func(before []catalog.Peer) bool {
		return !slices.ContainsFunc(before, func(p catalog.Peer) bool { return p.Name == name })
	}
	return m.members(ctx, gone, func(ctx context.Context, who string) error { return m.o.Catalog.Leave(ctx, who, name) })
}

// members changes which gateways there are. so says that they were so before.
func (m *mutation) members(ctx context.Context, so func(before []catalog.Peer) bool, do func(ctx context.Context, who string) error) (*GatewaysChange, error) {
	who, err := m.who(ctx)
	if err != nil {
		return nil, err
	}
	reading, cancel := sessionOf(ctx).reading(ctx)
	defer cancel()
	was := so(m.o.Catalog.Members())
	if err := do(reading, who); err != nil {
		return nil, catalogFault(err, "")
	}
	state, _ := m.o.Catalog.Now()
	return &GatewaysChange{Version: int(state.Version()), Changed: !was}, nil
}
