package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"headwater/gateway/catalog"
)

// FeedPath is where a region's data catalog says which tables are members of
// global tables.
const FeedPath = "/api/v1/regions/{region}/members"

// A feed is the body of a request to FeedPath, and of its answer to GET.
type feed struct {
	Members []catalog.Fed `json:"members"`
}

// A fed is the answer to a list that was taken.
type fed struct {
	Version uint64 `json:"version"`
	Changed bool   `json:"changed"`
}

// Feed serves FeedPath:
//
//	POST  {"members": [{"table", "kind", "namespace", "name"}]}
//	GET   the same, as it is kept
//
// POST replaces the region's list, whole or not at all, and answers {"version",
// "changed"} of the catalog. kind may be left out where the table is declared.
// Errors are {"error"}: 400 for a list that is refused, 404 for a region that
// is not known, 413 for one of more than catalog.MaxCommand bytes, 503 where it
// is not taken, or not known to be, and may be sent again. who names who asks;
// the caller has seen to it that they may.
func (g *Gateway) Feed(who func(*http.Request) string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+FeedPath, func(w http.ResponseWriter, r *http.Request) {
		state, _ := g.Catalog.Now()
		name := r.PathValue("region")
		if !knows(state, name) {
			refuseFeed(w, http.StatusNotFound, fmt.Errorf("there is no region %q", name))
			return
		}
		answerFeed(w, http.StatusOK, feed{fedBy(state, name)})
	})
	mux.HandleFunc("POST "+FeedPath, func(w http.ResponseWriter, r *http.Request) {
		members, err := readFeed(http.MaxBytesReader(w, r.Body, catalog.MaxCommand))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			refuseFeed(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the list has more than %d bytes", large.Limit))
			return
		case err != nil:
			refuseFeed(w, http.StatusBadRequest, err)
			return
		}
		res, status, err := g.feed(r.Context(), who(r), r.PathValue("region"), members)
		if err != nil {
			refuseFeed(w, status, err)
			return
		}
		answerFeed(w, status, res)
	})
	return mux
}

// feed replaces what a region's data catalog says. The status is that of the
// error.
func (g *Gateway) feed(ctx context.Context, who, region string, members []catalog.Fed) (fed, int, error) {
	res, err := g.Catalog.Change(ctx, catalog.Command{Who: who, Do: catalog.FeedMembers{Region: region, Members: members}})
	switch {
	case errors.Is(err, catalog.ErrRefused):
		status := http.StatusBadRequest
		if state, _ := g.Catalog.Now(); !knows(state, region) {
			status = http.StatusNotFound
		}
		_, reason, _ := strings.Cut(err.Error(), catalog.ErrRefused.Error()+": ")
		return fed{}, status, errors.New(reason)
	case err != nil:
		return fed{}, http.StatusServiceUnavailable, err
	}
	return fed{res.Version, res.Changed}, http.StatusOK, nil
}

func knows(state *catalog.State, region string) bool {
	_, ok := state.Region(region)
	return ok
}

// fedBy lists what a region's data catalog says, by table. It is never nil.
func fedBy(state *catalog.State, region string) []catalog.Fed {
	list := []catalog.Fed{}
	for t := range state.Tables() {
		for _, m := range t.Members {
			if slices.Contains(m.Sources, catalog.CatalogOf(region)) {
				list = append(list, catalog.Fed{Table: t.Name, Kind: t.Kind, Namespace: m.Namespace, Name: m.Name.Name})
			}
		}
	}
	return list
}

// readFeed reads a list. Without "members" it is refused: an empty object
// would take all members out.
func readFeed(r io.Reader) ([]catalog.Fed, error) {
	var f feed
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf(`the body is no list {"members": [{"table", "kind", "namespace", "name"}]}: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the list")
	}
	if f.Members == nil {
		return nil, errors.New(`the list has no "members"; an empty list takes all of the region's out`)
	}
	return f.Members, nil
}

func answerFeed(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func refuseFeed(w http.ResponseWriter, status int, err error) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	answerFeed(w, status, map[string]string{"error": err.Error()})
}
