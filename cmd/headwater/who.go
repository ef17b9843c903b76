package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"headwater/graph"
)

// userHeader names who asks, for the audit trail. It is believed: whoever has
// the token may say so of anybody.
const userHeader = "X-Headwater-User"

// whoAsks names who makes a request: as it says, else who holds the token.
func whoAsks(r *http.Request) string {
	return cmp.Or(r.Header.Get(userHeader), "token")
}

// withWho returns the request's context with who makes it, and whether they
// may change anything.
func withWho(r *http.Request, may bool) context.Context {
	ctx := context.WithValue(r.Context(), mayChange{}, may)
	return context.WithValue(ctx, whoKey{}, whoAsks(r))
}

type whoKey struct{}

// whoChanges names who changes the catalog in a request with this context.
func whoChanges(ctx context.Context) (string, error) {
	if ok, _ := ctx.Value(mayChange{}).(bool); !ok {
		return "", fmt.Errorf("%w: this server wants Authorization: Bearer TOKEN for changes", graph.ErrUnavailable)
	}
	who, _ := ctx.Value(whoKey{}).(string)
	return who, nil
}
