package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// errNotFound is returned for a question about what is not known.
var errNotFound = errors.New("not found")

// A client asks a server.
type client struct {
	server, token string
	// user, if not empty, is who asks, for the audit trail.
	user string
}

// graphql asks a GraphQL question and reads the data of the answer.
func (c client) graphql(ctx context.Context, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := c.do(ctx, http.MethodPost, "/graphql", body, &answer); err != nil {
		return err
	}
	for _, e := range answer.Errors {
		switch {
		case e.Extensions.Code == "UNAVAILABLE" && len(answer.Data) > 0 && string(answer.Data) != "null":
			// Some of it could not be asked; the answer says so among its gaps.
		case e.Extensions.Code == "NOT_FOUND":
			return fmt.Errorf("%w: %s", errNotFound, e.Message)
		default:
			return errors.New(e.Message)
		}
	}
	return json.Unmarshal(answer.Data, into)
}

// do sends a request and reads the JSON of the answer.
func (c client) do(ctx context.Context, method, path string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.server, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.user != "" {
		req.Header.Set(userHeader, c.user)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w; is a server running there? `headwater serve` starts one", err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 && !strings.HasSuffix(path, "graphql") {
		var p struct{ Error string }
		if json.Unmarshal(b, &p) != nil || p.Error == "" {
			p.Error = http.StatusText(res.StatusCode)
		}
		if res.StatusCode == http.StatusNotFound {
			return fmt.Errorf("%w: %s", errNotFound, p.Error)
		}
		return fmt.Errorf("the server answered %d: %s", res.StatusCode, p.Error)
	}
	if into == nil || len(b) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("the server at %s does not answer as headwater does (%d): %w", c.server, res.StatusCode, err)
	}
	return nil
}
