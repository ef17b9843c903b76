package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"headwater/graph"
	"headwater/ingest/source"
	"headwater/region"
	"headwater/region/log"
)

// A deadLetter is a dead letter as the server shows it.
type deadLetter struct {
	ID      string       `json:"id"`
	At      time.Time    `json:"at"`
	Subject string       `json:"subject"`
	Origin  string       `json:"origin"`
	Run     string       `json:"run,omitempty"`
	State   string       `json:"state"`
	Reason  string       `json:"reason"`
	Delta   *graph.Delta `json:"delta,omitempty"`
}

func showDead(d log.DeadLetter, whole bool) deadLetter {
	l := deadLetter{ID: d.ID, At: d.At, Subject: d.Delta.Subject.String(), Origin: d.Delta.Origin, Run: d.Delta.Run, State: d.Delta.State.String(), Reason: d.Reason}
	if whole {
		l.Delta = &d.Delta
	}
	return l
}

// deadPage is how many dead letters are listed at once.
const deadPage = 1000

var errBadRequest = errors.New("bad request")

// deadHandler serves the dead letters of a node:
//
//	GET    /api/v1/dead/?after=&limit=   a page of them
//	GET    /api/v1/dead/{id}             one, whole
//	POST   /api/v1/dead/{id}/replay      apply it again
//	DELETE /api/v1/dead/{id}             forget it
func deadHandler(n *region.Node, token string) http.Handler {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any, err error) {
		status := http.StatusOK
		if err != nil {
			status = http.StatusInternalServerError
			switch {
			case errors.Is(err, log.ErrNoDeadLetter):
				status = http.StatusNotFound
			case errors.Is(err, errBadRequest):
				status = http.StatusBadRequest
			}
			v = map[string]string{"error": err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v) // the client may be gone
	}
	mux.HandleFunc("GET /api/v1/dead/{$}", func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("limit"), "100"))
		if err != nil || limit < 1 {
			reply(w, nil, fmt.Errorf("%w: limit is not a number from 1 on", errBadRequest))
			return
		}
		letters, err := n.Dead().Dead(r.URL.Query().Get("after"), min(limit, deadPage))
		list := []deadLetter{}
		for _, d := range letters {
			list = append(list, showDead(d, false))
		}
		reply(w, list, err)
	})
	mux.HandleFunc("GET /api/v1/dead/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, err := n.Dead().DeadByID(r.PathValue("id"))
		reply(w, showDead(d, true), err)
	})
	mux.HandleFunc("POST /api/v1/dead/{id}/replay", func(w http.ResponseWriter, r *http.Request) {
		receipt, err := n.Replay(r.Context(), r.PathValue("id"))
		reply(w, map[string]string{"receipt": receipt.String()}, err)
	})
	mux.HandleFunc("DELETE /api/v1/dead/{id}", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]string{}, n.Dead().DropDead(r.PathValue("id")))
	})
	return source.WithToken(mux, token)
}

func clientFlags(f *flag.FlagSet) func() client {
	server := serverFlag(f)
	// What the environment says is no default: the help shows defaults.
	token := f.String("token", "", "`token` that the server wants; HEADWATER_TOKEN where it is not given")
	return func() client { return client{server: *server, token: cmp.Or(*token, os.Getenv("HEADWATER_TOKEN"))} }
}

// listDead lists dead letters after an ID, page by page.
func listDead(ctx context.Context, c client, after string, limit int) (list []deadLetter, err error) {
	for len(list) < limit {
		var page []deadLetter
		want := min(limit-len(list), deadPage)
		if err := c.do(ctx, http.MethodGet, fmt.Sprintf("/api/v1/dead/?limit=%d&after=%s", want, url.QueryEscape(after)), nil, &page); err != nil {
			return nil, err
		}
		if list = append(list, page...); len(page) < want {
			break
		}
		after = page[len(page)-1].ID
	}
	return list, nil
}

func deadCommand(out io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		connect := clientFlags(f)
		limit := f.Int("limit", 100, "list at most so `many`")
		after := f.String("after", "", "list those after this `ID`")
		return func(ctx context.Context, args []string) error {
			c := connect()
			switch {
			case len(args) == 1 && args[0] == "list":
				if *limit < 1 {
					return errUsage
				}
				list, err := listDead(ctx, c, *after, *limit)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				if len(list) > 0 {
					fmt.Fprintln(w, "ID\tAT\tSTATE\tSUBJECT\tREASON")
				}
				for _, d := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.At.Format(time.RFC3339), d.State, d.Subject, d.Reason)
				}
				return w.Flush()
			case len(args) == 2 && args[0] == "show":
				var d json.RawMessage
				if err := c.do(ctx, http.MethodGet, "/api/v1/dead/"+url.PathEscape(args[1]), nil, &d); err != nil {
					return err
				}
				return printJSON(out, d)
			case len(args) == 2 && args[0] == "replay":
				var a struct{ Receipt string }
				if err := c.do(ctx, http.MethodPost, "/api/v1/dead/"+url.PathEscape(args[1])+"/replay", nil, &a); err != nil {
					return err
				}
				_, err := fmt.Fprintln(out, "replayed, receipt", a.Receipt)
				return err
			case len(args) == 2 && args[0] == "drop":
				return c.do(ctx, http.MethodDelete, "/api/v1/dead/"+url.PathEscape(args[1]), nil, nil)
			}
			return errUsage
		}
	}
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
