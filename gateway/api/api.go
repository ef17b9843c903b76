// Package api is the public GraphQL API: schema.graphql at the project's root
// over any graph.Reader.
//
// The pieces, in the order in which a request meets them:
//
//	New         the handler: transports, limits, errors        api.go, transport.go, fault.go
//	session     one request: its deadline, views and memory    session.go, slab.go
//	query       the fields of Query and Mutation               query.go, mutation.go
//	catalog     what people decide, and changes of it          catalog.go, catalogchange.go
//	find        NodeRef → node                                 ref.go
//	lineage     graph.Answer → Lineage, with provenance        lineage.go, source.go, phrases.go
//	list        nodes that came together load together         list.go, facts.go, node.go, process.go
//	form        a selection → the JSON of many values          form.go, writer.go, …form.go
//	complexity  what a query may cost                          complexity.go
//
// generated.go and models.go are made by gqlgen (see gqlgen.yml) of the
// schema; regenerate them with `go generate ./gateway/api`.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"

	"headwater/gateway/cache"
	"headwater/graph"
	"headwater/ingest/derive"
)

// Options say what the API stands on. Reader is needed; the zero value of the
// rest works.
type Options struct {
	// Reader answers the questions.
	Reader graph.Reader
	// Regions tells how the regions are. Nil: what the marks of a view tell.
	Regions func(ctx context.Context) []RegionStatus
	// SQL analyses what processes run. Nil: nothing is known of tables' names.
	SQL *derive.Deriver
	// Cache keeps answers. Nil: none are kept.
	Cache *cache.Cache
	// Delete asks the region of a node to delete it and returns the receipt
	// of its log, for example eu@1042. Nil: deletions are refused.
	Delete func(ctx context.Context, n graph.Name) (receipt string, err error)
	// Catalog is what people decide, where this server is a gateway. Nil: it
	// has none.
	Catalog Catalog
	// Namespaces lists the namespaces that regions report, by region. Nil: it is
	// not known.
	Namespaces func() map[string][]string
	// Who names who changes the catalog in a request with this context, or says
	// why they may not. It is needed with a Catalog.
	Who func(ctx context.Context) (string, error)
	// Timeout bounds what one request may read, from its arrival; what was
	// read by then is still written. Default: 10 s.
	Timeout time.Duration
	// MaxComplexity bounds the fields that an answer may have, as the limits
	// in the query let expect. Default: 10,000,000.
	MaxComplexity int
	// MaxLimit is the most nodes of one lineage answer. Default: 100,000.
	MaxLimit int
	// Log takes internal errors. Default: slog.Default().
	Log *slog.Logger
	// Observe, if set, is called after each field of Query or Mutation with
	// its name, how long it took to answer, and its first error.
	Observe func(field string, d time.Duration, err error)
}

// A RegionStatus says how a region is.
type RegionStatus struct {
	Name    string
	Healthy bool
	// Position and Revision are those of graph.Mark.
	Position, Revision uint64
	// Lag is how far it is behind what it has accepted; negative: not known.
	Lag time.Duration
}

// Validate says what is wrong with the options.
func (o *Options) Validate() error {
	switch {
	case o.Reader == nil:
		return errors.New("api: Options.Reader is nil")
	case o.Catalog != nil && o.Who == nil:
		return errors.New("api: Options.Who is nil; who changes the catalog is in its audit trail")
	case o.Timeout < 0:
		return fmt.Errorf("api: Options.Timeout is %v", o.Timeout)
	case o.MaxComplexity < 0:
		return fmt.Errorf("api: Options.MaxComplexity is %d", o.MaxComplexity)
	case o.MaxLimit < 0:
		return fmt.Errorf("api: Options.MaxLimit is %d", o.MaxLimit)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.MaxComplexity == 0 {
		o.MaxComplexity = 10_000_000
	}
	if o.MaxLimit == 0 {
		o.MaxLimit = 100_000
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// What a request may weigh before it is looked at.
const (
	maxBody    = 1 << 20  // bytes
	maxTokens  = 20_000   // of a query
	maxCached  = 16 << 10 // bytes of a query that is worth keeping
	maxQueries = 1000     // kept
)

// New returns the handler of the API. It may be served on any path.
func New(o Options) (http.Handler, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return newAPI(o.withDefaults(), graph.GetLineage), nil
}

func newAPI(o Options, walk walk) *api {
	a := &api{o: o, walk: walk}
	a.workspaces.New = func() any { return &workspace{} }
	config := Config{Resolvers: a}
	price(&config.Complexity)
	srv := handler.New(NewExecutableSchema(config))
	srv.AddTransport(transport.Options{})
	srv.AddTransport(transport.SSE{})
	srv.AddTransport(get{})
	srv.AddTransport(post{})
	srv.SetQueryCache(smallKeys[*ast.QueryDocument]{lru.New[*ast.QueryDocument](maxQueries)})
	srv.SetParserTokenLimit(maxTokens)
	srv.SetValidationRulesFn(validationRules)
	srv.SetErrorPresenter(a.present)
	srv.SetRecoverFunc(a.recovered)
	srv.Use(extension.Introspection{})
	srv.Use(extension.AutomaticPersistedQuery{Cache: smallValues{lru.New[string](maxQueries)}})
	srv.Use(extension.FixedComplexityLimit(a.o.MaxComplexity))
	srv.AroundFields(encode)
	if a.o.Observe != nil {
		srv.AroundRootFields(a.observe)
	}
	a.server = srv
	return a
}

// An api is the handler, and the root of the resolvers.
type api struct {
	o      Options
	walk   walk
	server *handler.Server

	phrases    phrasebook
	workspaces sync.Pool // of *workspace
}

// ServeHTTP answers one request and closes the views that it opened when the
// response has been written.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	work := a.workspaces.Get().(*workspace)
	defer func() {
		work.reset()
		a.workspaces.Put(work)
	}()
	s := newSession(&a.o, &a.phrases, work)
	defer s.close()
	w.Header().Set("Cache-Control", "no-store")
	if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	a.server.ServeHTTP(w, r.WithContext(withSession(r.Context(), s)))
}

// Query implements ResolverRoot.
func (a *api) Query() QueryResolver { return &query{o: &a.o, walk: a.walk} }

// Mutation implements ResolverRoot.
func (a *api) Mutation() MutationResolver { return &mutation{o: &a.o} }

func (a *api) observe(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	field := graphql.GetRootFieldContext(ctx).Field
	start := time.Now()
	answer := next(ctx)
	var err error
	for _, e := range graphql.GetErrors(ctx) {
		if len(e.Path) > 0 && e.Path[0] == ast.PathName(field.Alias) {
			err = e
			break
		}
	}
	a.o.Observe(field.Name, time.Since(start), err)
	return answer
}

// smallKeys keeps large queries out of a cache, so that its size in queries
// bounds its size in bytes.
type smallKeys[T any] struct{ graphql.Cache[T] }

func (c smallKeys[T]) Add(ctx context.Context, key string, value T) {
	if len(key) <= maxCached {
		c.Cache.Add(ctx, key, value)
	}
}

// smallValues does the same for persisted queries.
type smallValues struct{ graphql.Cache[string] }

func (c smallValues) Add(ctx context.Context, key, value string) {
	if len(value) <= maxCached {
		c.Cache.Add(ctx, key, value)
	}
}
