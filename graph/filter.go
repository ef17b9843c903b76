package graph

import (
	"context"
	"slices"
	"strings"
)

// A NodeFilter narrows an answer. Empty lists let all through.
type NodeFilter struct {
	Namespaces, Regions, DataStoreKinds, ProcessKinds, Platforms, Owners, Tags []string
	// Origins leaves out what other origins say.
	Origins []string
	// PassThrough hides what does not match but walks on through it; else
	// what only a hidden node reaches is left out with it.
	PassThrough bool
	// ThroughDeleted walks through what has been deleted, without showing it.
	ThroughDeleted bool
}

func (f *NodeFilter) selects() bool {
	return f.ThroughDeleted || len(f.Namespaces)+len(f.Regions)+len(f.DataStoreKinds)+len(f.ProcessKinds)+len(f.Platforms)+len(f.Owners)+len(f.Tags) > 0
}

func (f *NodeFilter) match(ctx context.Context, v View, ids []ID) (map[ID]bool, error) {
	match := make(map[ID]bool, len(ids))
	_, err := v.Nodes(ctx, ids, 0, func(n Node) error {
		match[n.ID] = f.matches(&n)
		return nil
	})
	return match, err
}

func (f *NodeFilter) matches(n *Node) bool {
	any := func(list []string, has ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(want string) bool {
			return slices.ContainsFunc(has, func(s string) bool { return strings.EqualFold(s, want) })
		})
	}
	kinds := f.DataStoreKinds
	if n.Name.Kind == ProcessKind {
		kinds = f.ProcessKinds
	}
	var tags []string
	for _, t := range n.Facts.Tags {
		tags = append(tags, t.Name, t.Name+"="+t.Value)
	}
	return !(f.ThroughDeleted && n.Deleted != 0) && any(f.Namespaces, n.Name.Namespace) && any(f.Regions, n.Name.Region) &&
		any(kinds, n.Facts.Kind) && (len(f.Platforms) == 0 || n.Name.Kind == ProcessKind || any(f.Platforms, n.Facts.Platform)) &&
		any(f.Owners, n.Facts.Owners...) && any(f.Tags, tags...)
}
