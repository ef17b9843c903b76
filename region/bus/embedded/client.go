package embedded

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"headwater/graph"
	"headwater/region/bus"
)

// A Client is the change stream of a region at an address. It does not come
// back by itself: who follows asks again, from its cursor.
type Client struct {
	// URL is where the region serves: scheme, host and port.
	URL string
	// HTTP makes the requests. It must have no Timeout, which would end
	// followers. Default: http.DefaultClient.
	HTTP *http.Client
	// Silence is after how long without a word it is ErrSilent. It is more than
	// Options.Idle of the stream. Default: 15 s.
	Silence time.Duration
}

var _ bus.Stream = (*Client)(nil)

// Follow implements bus.Stream.
func (c *Client) Follow(ctx context.Context, from bus.Cursor, f bus.Filter, emit func([]bus.Entry) error) error {
	return c.ask(ctx, FollowPath, request{from, f}, func(kind byte, b []byte) (bool, error) {
		if kind != entryFrames {
			return false, fmt.Errorf("a frame of kind %q: %w", kind, bus.ErrFormat)
		}
		entries, err := entriesOf(b)
		if err != nil {
			return false, err
		}
		return false, emit(entries)
	})
}

// Snapshot implements bus.Stream.
func (c *Client) Snapshot(ctx context.Context, f bus.Filter, emit func([]graph.Name) error) (bus.Cursor, error) {
	var cursor bus.Cursor
	err := c.ask(ctx, SnapshotPath, request{Filter: f}, func(kind byte, b []byte) (bool, error) {
		switch kind {
		case nameFrame:
			names, err := bus.DecodeNames(b)
			if err != nil {
				return false, err
			}
			return false, emit(names)
		case cursorFrame:
			return true, json.Unmarshal(b, &cursor)
		}
		return false, fmt.Errorf("a frame of kind %q: %w", kind, bus.ErrFormat)
	})
	return cursor, err
}

// ask sends a request and hands over the frames of the answer, until take says
// that one was the last.
func (c *Client) ask(ctx context.Context, path string, q request, take func(kind byte, b []byte) (last bool, err error)) (err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer func() {
		// What ended the connection is what there is to say of it.
		if cause := context.Cause(ctx); outer.Err() != nil {
			err = outer.Err()
		} else if err != nil && errors.Is(cause, bus.ErrSilent) {
			err = cause
		}
		if err != nil {
			err = fmt.Errorf("change stream of %s: %w", c.URL, err)
		}
	}()
	silence := c.Silence
	if silence == 0 {
		silence = 15 * time.Second
	}
	dead := time.AfterFunc(silence, func() { cancel(fmt.Errorf("%w for %s", bus.ErrSilent, silence)) })
	defer dead.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1024))
		return fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(text))
	}
	in := bufio.NewReaderSize(answer.Body, 64<<10)
	var room []byte
	for {
		dead.Reset(silence)
		kind, b, err := readFrame(in, room)
		if err != nil {
			return err
		}
		dead.Stop() // it is not the region that is slow now
		room = b
		if kind == refusalFrame {
			var x refusal
			if err := json.Unmarshal(b, &x); err != nil {
				return err
			}
			return x.err()
		}
		if last, err := take(kind, b); err != nil || last {
			return err
		}
	}
}
