package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A client asks one server over connections that stay open.
type client struct {
	url  string
	http *http.Client
}

func newClient(url string) *client {
	return &client{url: url, http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, DisableCompression: true,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// post posts a body and reads the answer into buf.
func (c *client) post(ctx context.Context, path string, body []byte, buf *bytes.Buffer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	buf.Reset()
	_, err = io.Copy(buf, res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %.300s", path, res.Status, buf)
	}
	return nil
}

// A wire is one connection of HTTP, written to and read from by who asks, as
// PostgreSQL's client does with its own: no goroutine stands between.
type wire struct {
	conn   net.Conn
	in     *bufio.Reader
	host   string
	buffer []byte
}

func newWire(url string) (*wire, error) {
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), host: host}, nil
}

// post posts a body and returns the answer, until the next one.
func (w *wire) post(path string, body []byte) ([]byte, error) {
	w.buffer = fmt.Appendf(w.buffer[:0], "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, w.host, len(body))
	w.buffer = append(w.buffer, body...)
	if _, err := w.conn.Write(w.buffer); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 || res.ContentLength < 0 {
		return nil, fmt.Errorf("%s: %s, %d bytes", path, res.Status, res.ContentLength)
	}
	w.buffer = slices.Grow(w.buffer[:0], int(res.ContentLength))[:res.ContentLength]
	_, err = io.ReadFull(res.Body, w.buffer)
	return w.buffer, err
}

// question makes the body of a GraphQL request.
func question(query string, variables any) ([]byte, error) {
	return json.Marshal(map[string]any{"query": query, "variables": variables})
}

// whole reports whether an answer came without errors, which would stand before
// the data, and is complete, which all queries ask for behind the lists. To look
// through all of it would take a tenth of what is measured.
func whole(answer []byte) error {
	if !bytes.HasPrefix(answer, []byte(`{"data":`)) || !bytes.Contains(answer[max(0, len(answer)-1024):], []byte(`"complete":true`)) {
		return fmt.Errorf("not a whole answer: %.300s", answer)
	}
	return nil
}

// ask asks questions in turn with so many clients for some time, and returns
// how long each answer took and how many bytes they had in the mean.
func (c *client) ask(ctx context.Context, bodies [][]byte, clients int, d time.Duration) (took []time.Duration, size int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards took and size
	end := time.Now().Add(d)
	for n := range clients {
		wg.Go(func() {
			var buf bytes.Buffer
			var mine []time.Duration
			bytes := 0
			for i := n; time.Now().Before(end) && ctx.Err() == nil; i += clients {
				began := time.Now()
				err := c.post(ctx, "/graphql", bodies[i%len(bodies)], &buf)
				mine = append(mine, time.Since(began))
				bytes += buf.Len()
				if err == nil {
					err = whole(buf.Bytes())
				}
				if err != nil {
					cancel(err)
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			size += bytes
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, 0, err
	}
	return took, size / max(1, len(took)), nil
}

// serve opens a server on a folder and calls f with a client of it.
func (r *run) serve(ctx context.Context, dir string, f func(*Server, *client) error) error {
	return r.serving(dir, false, f)
}

// serving is serve with or without answers that are given again.
func (r *run) serving(dir string, keep bool, f func(*Server, *client) error) error {
	s, err := r.Serve(dir, keep)
	if err != nil {
		return err
	}
	c := newClient(s.URL)
	err = f(s, c)
	c.close()
	return errors.Join(err, s.Stop())
}
