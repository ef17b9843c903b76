package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"headwater/gateway/cache"
	"headwater/graph"
)

// maxAnswer bounds the answers that are kept, in bytes.
const maxAnswer = 8 << 20

// kept writes the answer to a request that is kept and still holds; false where
// there is none.
func kept(w http.ResponseWriter, r *http.Request, body []byte) bool {
	s := sessionOf(r.Context())
	if s.o.Cache == nil {
		return false
	}
	now := s.lasting(r.Context())
	if now == nil {
		return false
	}
	a := s.o.Cache.Get(body, w.Header().Get("Content-Type"), now)
	if a == nil {
		return false
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	_, _ = w.Write(a.Body) // the client has gone
	return true
}

// lasting returns the newest state as what can tell what holds in it; nil where
// it can't.
func (s *session) lasting(ctx context.Context) cache.Holder {
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil
	}
	if own, ok := st.View.(graph.Tracking); ok {
		return own
	}
	if now, ok := st.Numbers().(graph.Lasting); ok {
		return now
	}
	return nil
}

// note begins to note what is read for an operation whose answer may be kept:
// one field, whose answer is written by forms, one value after the other.
func (s *session) note(op *graphql.OperationContext) {
	if s.o.Cache == nil || op.Operation.Operation != ast.Query || len(op.Operation.SelectionSet) != 1 {
		return
	}
	f, ok := op.Operation.SelectionSet[0].(*ast.Field)
	if !ok {
		return
	}
	switch f.Name {
	case "lineage", "paths", "node":
		s.touched = &graph.Touched{}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, st := range s.views { // opened to look for the answer
			if st.View != nil {
				st.View = graph.Track(st.View, s.touched)
			}
		}
	}
}

// unsteady notes that the answer has something that changes without the graph.
func (s *session) unsteady() {
	if s.touched != nil {
		s.touched.All = true
	}
}

// keep keeps an answer that was noted, unless something was wrong with it.
func (s *session) keep(request []byte, media string, resp *graphql.Response, out *pieces) {
	t := s.touched
	if t == nil || t.All || t.Of == nil || resp == nil || len(resp.Errors) > 0 || len(resp.Extensions) > 0 || out.size > maxAnswer {
		return
	}
	body := make([]byte, 0, out.size)
	for _, b := range out.list {
		body = append(body, b...)
	}
	s.o.Cache.Put(&cache.Answer{Request: request, Body: body, Type: media, Touched: *t})
}
