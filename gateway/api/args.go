package api

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"headwater/graph"
)

// parseAt reads the arguments that say which state of the graph is wanted.
func parseAt(asOf, atLeast *string) (at graph.At, err error) {
	if asOf != nil {
		if at.AsOf, err = parseTime("asOf", *asOf); err != nil {
			return at, err
		}
	}
	if atLeast != nil {
		if at.AtLeast, err = parsePositions(*atLeast); err != nil {
			return at, err
		}
	}
	return at, nil
}

// parseTime reads the time of an argument, one that nanoseconds since 1970 can
// tell.
func parseTime(arg, s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, badInput("%s: %q is not a time like 2026-03-01T06:30:00Z", arg, clip(s))
	}
	if y := t.UTC().Year(); y < 1970 || y > 2261 {
		return t, badInput("%s: the year %d is not one of 1970 to 2261", arg, y)
	}
	return t, nil
}

// parsePositions reads eu@1042,us@77. Of two positions of one region the
// later counts.
func parsePositions(s string) (map[string]uint64, error) {
	at := map[string]uint64{}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		i := strings.LastIndexByte(part, '@')
		if i < 1 {
			return nil, badInput("atLeast: %q is not a position like eu@1042", clip(part))
		}
		n, err := strconv.ParseUint(part[i+1:], 10, 64)
		if err != nil {
			return nil, badInput("atLeast: %q is not a position like eu@1042", clip(part))
		}
		at[part[:i]] = max(at[part[:i]], n)
	}
	return at, nil
}

// parseKinds joins the kinds of dependency that a question allows with those
// that its operators betray. 0 is all but CONTROL.
func parseKinds(dependencies []graph.Kinds, operators []string) (graph.Kinds, error) {
	if dependencies != nil && len(dependencies) == 0 {
		return 0, badInput("dependencies: an empty list leaves no flow; leave it out for all but CONTROL")
	}
	var kinds graph.Kinds
	for _, k := range dependencies {
		kinds |= k
	}
	if len(operators) == 0 {
		return kinds, nil
	}
	allowed := kinds
	if kinds == 0 {
		allowed = graph.AllKinds &^ graph.Control
	}
	var passed graph.Kinds
	for _, o := range operators {
		k := operatorKinds(o)
		if k == 0 {
			return 0, badInput("filter.operators: %q is not one of %s", clip(o), strings.Join(operatorNames(), ", "))
		}
		passed |= k
	}
	if allowed&passed == 0 {
		return 0, badInput("filter.operators: none of %s goes with the dependencies %s", strings.Join(operators, ", "), strings.Join(kinds.Names(), ", "))
	}
	return allowed & passed, nil
}

// operatorKinds returns the kinds of dependency that betray an operator: each
// kind of which graph.Kinds.Operators names it. Every flow has a SCAN.
func operatorKinds(operator string) graph.Kinds {
	var kinds graph.Kinds
	for k := graph.Identity; k <= graph.AllKinds && k != 0; k <<= 1 {
		if slices.Contains(k.Operators(), strings.ToUpper(operator)) {
			kinds |= k
		}
	}
	if strings.EqualFold(operator, "SCAN") {
		kinds = graph.AllKinds
	}
	return kinds
}

func operatorNames() []string { return graph.AllKinds.Operators() }

// nodeFilter is the filter as graph has it.
func nodeFilter(f *LineageFilter) graph.NodeFilter {
	if f == nil {
		return graph.NodeFilter{PassThrough: true}
	}
	return graph.NodeFilter{
		Namespaces: f.Namespaces, Regions: f.Regions, DataStoreKinds: f.DataStoreKinds, ProcessKinds: f.ProcessKinds,
		Platforms: f.Platforms, Owners: f.Owners, Tags: f.Tags, Origins: f.Origins,
		PassThrough:    f.PassThrough == nil || *f.PassThrough,
		ThroughDeleted: f.ThroughDeleted != nil && *f.ThroughDeleted,
	}
}
