// Package graph says what lineage is: names and nodes, contributions and the
// flows they imply, the pure plan that turns a message into a difference, and
// the walk that answers "where does this come from, what does it feed?".
//
// The pieces, in the order in which a message meets them:
//
//	Delta      what one message says about one subject        delta.go
//	Content    the words of a delta, and their fold           content.go
//	Record     the runs of one contribution, a join           record.go
//	Derive     the read-model rows that a content implies     derive.go
//	Plan       record + delta → Change (or only a touch)      plan.go
//	Store      applies changes, answers Views                 store.go
//	Walk       shortest distances over any View               walk.go
//	Lineage    a walk made into an answer: order, limit, edges lineage.go
//
// Everything here is pure but for the reads of a View; the package imports
// only the standard library. DESIGN.md beside this file gives the reasons.
package graph
