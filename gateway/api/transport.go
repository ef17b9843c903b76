package api

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// The media types of responses. The newer one is sent to those who ask for it.
const (
	plainJSON   = "application/json"
	graphqlJSON = "application/graphql-response+json"
)

// A post takes requests by POST, as gqlgen's transport does and with the same
// answers; but data that is JSON already is not read through once more to be
// written (see respond).
type post struct{ transport.POST }

// Do implements graphql.Transport.
func (post) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	params := &graphql.RawParams{Headers: r.Header, ReadTime: graphql.TraceTiming{Start: graphql.Now()}}
	w.Header().Set("Content-Type", responseType(r))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		respond(w, http.StatusOK, exec.DispatchError(r.Context(), gqlerror.List{gqlerror.Errorf("could not read request body: %+v", err)}))
		return
	}
	if kept(w, r, body) {
		return
	}
	if c := sessionOf(r.Context()).o.Cache; c != nil {
		waited, landed := c.Alone(r.Context(), body, w.Header().Get("Content-Type"))
		defer landed()
		if waited && kept(w, r, body) {
			return
		}
	}
	if err := decode(body, params); err != nil {
		respond(w, http.StatusBadRequest, exec.DispatchError(r.Context(), gqlerror.List{gqlerror.Errorf("json request body could not be decoded: %+v body:%s", err, body)}))
		return
	}
	answer(w, r, exec, params, body)
}

// A get takes queries by GET.
type get struct{ transport.GET }

// Do implements graphql.Transport.
func (get) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	params := &graphql.RawParams{Headers: r.Header, ReadTime: graphql.TraceTiming{Start: graphql.Now()}}
	w.Header().Set("Content-Type", responseType(r))
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	params.Query, params.OperationName = query.Get("query"), query.Get("operationName")
	for name, v := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
		if text := query.Get(name); text != "" {
			if err := decode([]byte(text), v); err != nil {
				refuse(w, http.StatusBadRequest, name+" could not be decoded")
				return
			}
		}
	}
	answer(w, r, exec, params, nil)
}

func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// responseType returns the first media type that the client accepts and we
// send.
func responseType(r *http.Request) string {
	accept := r.Header.Get("Accept")
	if accept == "" {
		return plainJSON
	}
	for part := range strings.SplitSeq(accept, ",") {
		switch mediaType, _, err := mime.ParseMediaType(strings.TrimSpace(part)); {
		case err != nil:
		case mediaType == "*/*" || mediaType == "application/*" || mediaType == plainJSON:
			return plainJSON
		case mediaType == graphqlJSON:
			return graphqlJSON
		}
	}
	return graphqlJSON
}

// answer executes an operation and writes the response. It may be kept for
// requests that are equal, unless request is nil.
func answer(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams, request []byte) {
	params.ReadTime.End = graphql.Now()
	op, errs := exec.CreateOperationContext(r.Context(), params)
	if errs != nil {
		status := http.StatusOK
		if errcode.GetErrorKind(errs) == errcode.KindProtocol {
			status = http.StatusUnprocessableEntity
			if w.Header().Get("Content-Type") == graphqlJSON {
				status = http.StatusBadRequest
			}
		}
		respond(w, status, exec.DispatchError(graphql.WithOperationContext(r.Context(), op), errs))
		return
	}
	if r.Method == http.MethodGet && op.Operation.Operation != ast.Query {
		refuse(w, http.StatusNotAcceptable, "GET requests only allow query operations")
		return
	}
	s := sessionOf(r.Context())
	if s.splices = true; request != nil {
		s.note(op)
	}
	responses, ctx := exec.DispatchOperation(r.Context(), op)
	resp := responses(ctx)
	out := respond(w, http.StatusOK, resp, s.parts...)
	s.keep(request, w.Header().Get("Content-Type"), resp, out)
}

func refuse(w http.ResponseWriter, status int, message string) {
	respond(w, status, &graphql.Response{Errors: gqlerror.List{{Message: message}}})
}

// respond writes a response; nil, of a request that nobody waits for, is null.
// The data is written as it is, with the parts that belong into it: to marshal
// it with the rest takes longer than all else that is done for a large answer.
func respond(w http.ResponseWriter, status int, resp *graphql.Response, parts ...part) *pieces {
	var out pieces
	switch {
	case resp == nil:
		out.add([]byte("null"))
	default:
		out.add([]byte("{"))
		if len(resp.Errors) > 0 {
			out.add([]byte(`"errors":`), marshal(resp.Errors), []byte(","))
		}
		out.add([]byte(`"data":`))
		at := 0
		for _, p := range parts {
			out.add(resp.Data[at:p.at:p.at], p.bytes)
			at = p.at
		}
		out.add(resp.Data[at:])
		if len(resp.Data) == 0 {
			out.add([]byte("null"))
		}
		if len(resp.Extensions) > 0 {
			out.add([]byte(`,"extensions":`), marshal(resp.Extensions))
		}
		out.add([]byte("}"))
	}
	w.Header().Set("Content-Length", strconv.Itoa(out.size))
	w.WriteHeader(status)
	for _, b := range out.list {
		_, _ = w.Write(b) // the client has gone
	}
	return &out
}

// A pieces is a body in as few slices as go without copying long ones: each
// may become a packet.
type pieces struct {
	list [][]byte
	size int
}

func (p *pieces) add(bs ...[]byte) {
	for _, b := range bs {
		p.size += len(b)
		if n := len(p.list) - 1; n >= 0 && cap(p.list[n])-len(p.list[n]) >= len(b) {
			p.list[n] = append(p.list[n], b...)
		} else if len(b) < 512 {
			p.list = append(p.list, append(make([]byte, 0, 1024), b...))
		} else {
			p.list = append(p.list, b)
		}
	}
}

// marshal is for what always marshals: errors and extensions of ours.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
