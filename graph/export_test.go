package graph

// WalkLegOf is WalkLeg for legs of at most so many hops.
var WalkLegOf = walkLeg
