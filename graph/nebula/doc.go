// Package nebula keeps the large rows of a graph in NebulaGraph 3.x, where the
// graph outgrows one machine: names, flows, facts, records. All else stays in
// the region's folder, in graph/pebble, whose code this is the Elsewhere of.
//
//	nebula.go      open, counts
//	statements.go  all that is said to a graphd about the graph
//	rows.go        what is stored under which key
//	engine.go      whose space it is; what the folder noted
//	batch.go, plan.go, write.go  a batch becomes rows that nobody sees yet
//	closed.go      which rows are hidden from which views
//	scan.go, read.go  the rows of one view
//	cache.go       flows that were read
//	schema.go      space, tags and edge types
//	pool.go, session.go, params.go, quote.go, errors.go  sessions with graphd
//	options.go     where it is, and how much of what
//
// See DESIGN.md for why.
package nebula
