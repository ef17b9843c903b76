package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"headwater/graph"
	"headwater/ingest"
)

func TestDeleteReadsNamesWithSlashesAndPercents(t *testing.T) {
	var got graph.Name
	h := newHTTP(&sink{}, func(o *HTTPOptions) {
		o.Delete = func(_ context.Context, n graph.Name) (ingest.Receipt, error) {
			got = n
			return ingest.Receipt{Region: "eu", Offset: 7}, nil
		}
	})
	srv := httptest.NewServer(h)
	defer srv.Close()
	for path, want := range map[string]graph.Name{
		"/api/v1/namespaces/scheduler/jobs/load_orders":                       {Kind: graph.ProcessKind, Namespace: "scheduler", Name: "load_orders"},
		"/api/v1/namespaces/hive%3A%2F%2Fm%3A9083/datasets/shop.orders":       {Kind: graph.DataStoreKind, Namespace: "hive://m:9083", Name: "shop.orders"},
		"/api/v1/namespaces/s3:%2F%2Fbucket/datasets/a%2Fb%2F%2Fc%2F":         {Kind: graph.DataStoreKind, Namespace: "s3://bucket", Name: "a/b//c/"},
		"/api/v1/namespaces/n/datasets/100%25%20of%20%2525":                   {Kind: graph.DataStoreKind, Namespace: "n", Name: "100% of %25"},
		"/api/v1/namespaces/n/datasets/%2E%2E":                                {Kind: graph.DataStoreKind, Namespace: "n", Name: ".."},
		"/api/v1/namespaces/n/datasets/a%3Fb%23c":                             {Kind: graph.DataStoreKind, Namespace: "n", Name: "a?b#c"},
		"/api/v1/namespaces/%E4%BB%93%E5%BA%93/datasets/%E8%AE%A2%E5%8D%95+1": {Kind: graph.DataStoreKind, Namespace: "仓库", Name: "订单+1"},
	} {
		want.Region = "eu"
		got = graph.Name{}
		req, err := http.NewRequest(http.MethodDelete, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusOK || got != want || strings.TrimSpace(string(body)) != `{"receipt":"eu@7"}` {
			t.Errorf("%s: %d %s, deleted %+v, want %+v", path, res.StatusCode, body, got, want)
		}
	}
}

func TestDeleteOfWhatIsNotKnownOrNotNowSaysSo(t *testing.T) {
	var err error
	h := newHTTP(&sink{}, func(o *HTTPOptions) {
		o.Delete = func(context.Context, graph.Name) (ingest.Receipt, error) { return ingest.Receipt{}, err }
	})
	for _, c := range []struct {
		err    error
		status int
	}{
		{&graph.NotFoundError{What: "n x"}, http.StatusNotFound},
		{ingest.ErrOverloaded, http.StatusServiceUnavailable},
		{context.DeadlineExceeded, http.StatusGatewayTimeout},
	} {
		err = c.err
		send(t, h, http.MethodDelete, "/api/v1/namespaces/n/datasets/x", nil).want(c.status, c.err.Error())
	}
	send(t, newHTTP(&sink{}), http.MethodDelete, "/api/v1/namespaces/n/datasets/x", nil).want(http.StatusNotFound)
}

func TestTokenIsWantedOfAllRequests(t *testing.T) {
	s := &sink{}
	deleted := 0
	h := newHTTP(s, func(o *HTTPOptions) {
		o.Token = "s3cret"
		o.Delete = func(context.Context, graph.Name) (ingest.Receipt, error) { deleted++; return ingest.Receipt{}, nil }
	})
	for _, authorization := range []string{"", "s3cret", "Bearer", "Bearer wrong", "Bearer s3cret2", "Basic s3cret"} {
		a := post(t, h, onePath, event("a"), "Authorization", authorization).want(http.StatusUnauthorized, "Bearer TOKEN")
		if got := a.header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("WWW-Authenticate %q", got)
		}
		send(t, h, http.MethodDelete, "/api/v1/namespaces/n/datasets/x", nil, "Authorization", authorization).want(http.StatusUnauthorized)
	}
	if s.appends != 0 || deleted != 0 {
		t.Errorf("%d appends, %d deletions without the token", s.appends, deleted)
	}
	for _, authorization := range []string{"Bearer s3cret", "bearer s3cret"} {
		post(t, h, onePath, event("a"), "Authorization", authorization).want(http.StatusCreated)
	}
	post(t, newHTTP(s), onePath, event("a"), "Authorization", "Bearer whatever").want(http.StatusCreated)
}

func TestOtherMethodsAndPathsAreRefused(t *testing.T) {
	h := newHTTP(&sink{})
	send(t, h, http.MethodGet, onePath, nil).want(http.StatusMethodNotAllowed)
	send(t, h, http.MethodPut, batchPath, bytes.NewReader(nil)).want(http.StatusMethodNotAllowed)
	send(t, h, http.MethodPost, "/api/v1/lineage/other", bytes.NewReader(nil)).want(http.StatusNotFound)
}
