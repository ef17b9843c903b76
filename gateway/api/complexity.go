package api

import (
	"math"

	"headwater/graph"
)

// usual is how long a list without a limit of its own is taken to be.
const usual = 10

// price tells what fields cost: the fields that an answer may have below
// them, by the limits that the query asks for.
func price(c *ComplexityRoot) {
	c.Query.Lineage = func(child int, _ NodeRef, _ graph.Direction, _ graph.Granularity, _ int, _ []graph.Kinds, _ *LineageFilter, _, _ *string, limit int, _ *string) int {
		return times(child, limit)
	}
	c.Query.Search = func(child int, _ string, _ []NodeKind, _, _ *string, first *int, _ *string) int {
		return times(child, orDefault(first, 20))
	}
	c.Query.Paths = func(child int, _, _ NodeRef, _ graph.Granularity, _ []graph.Kinds, _ *string, maxDepth, first int) int {
		return times(times(child, min(maxDepth, 20)), first)
	}
	c.Query.AliasConflicts = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 100)) }
	c.DataStore.Columns = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 100)) }
	c.DataStore.Partitions = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 20)) }
	c.Query.Regions = unlimited
	c.Catalog.Aliases = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 100)) }
	c.Catalog.GlobalTables = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 100)) }
	c.Catalog.Audit = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 100)) }
	c.GlobalTable.Members = func(child int, first *int, _ *string) int { return times(child, orDefault(first, 100)) }
	c.Query.SQLChain = func(child int, _ NodeRef, _ int, _ []graph.Kinds, limit int) int { return times(child, limit) }
	c.DataStore.Producers, c.DataStore.Consumers = unlimited, unlimited
	c.Column.Producers, c.Column.Consumers = unlimited, unlimited
	c.Process.Reads, c.Process.Writes = unlimited, unlimited
}

func unlimited(child int) int { return times(child, usual) }

func orDefault(first *int, otherwise int) int {
	if first == nil {
		return otherwise
	}
	return *first
}

// times multiplies without overflow; a length that the resolver will refuse
// counts as one.
func times(child, length int) int {
	child, length = max(child, 1), max(length, 1)
	if child > math.MaxInt/length {
		return math.MaxInt
	}
	return child * length
}
