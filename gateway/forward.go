package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"headwater/gateway/catalog"
)

// CatalogPath is where a gateway takes requests that others forward to it.
const CatalogPath = "/internal/catalog"

// mostForwarded bounds a forwarded request and its reply, in bytes.
const mostForwarded = catalog.MaxCommand * 3 / 2

// A forwarder carries requests to the gateway that leads.
type forwarder struct {
	http  *http.Client
	token string
}

// Forward implements catalog.Forwarder.
func (f *forwarder) Forward(ctx context.Context, to catalog.Peer, request []byte) ([]byte, error) {
	if to.Serves == "" {
		return nil, fmt.Errorf("it is not known where gateway %q serves: %w", to.Name, catalog.ErrNotSent)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(to.Serves, "/")+CatalogPath, bytes.NewReader(request))
	if err != nil {
		return nil, errors.Join(err, catalog.ErrNotSent)
	}
	resp, err := (&http.Client{Transport: bearer{f.http.Transport, f.token}}).Do(r)
	if err != nil {
		if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
			return nil, errors.Join(err, catalog.ErrNotSent)
		}
		return nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, mostForwarded+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("gateway %q answered %s: %.200s", to.Name, resp.Status, reply)
	case len(reply) > mostForwarded:
		return nil, fmt.Errorf("gateway %q answered more than %d bytes", to.Name, mostForwarded)
	}
	return reply, nil
}

// ServeCatalog answers what other gateways forward. The caller checks that it
// is a gateway who asks.
func (g *Gateway) ServeCatalog(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostForwarded))
	if err != nil {
		http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(g.Catalog.Serve(r.Context(), body)) // who asked sees it
}
