package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LoadOptions say how files are sent to a server. Server is needed.
type LoadOptions struct {
	// Server is the base URL: http://127.0.0.1:8080.
	Server string
	Token  string
	// Events and Bytes bound one batch. Defaults: 500 and 2 MiB.
	Events, Bytes int
	// Wait waits at the end until all can be read.
	Wait bool
	// Patience is how long a server that is down or overloaded is waited for.
	// Default: one minute.
	Patience time.Duration
	Client   *http.Client
	// Progress, if set, is told after each batch.
	Progress func(Progress)
	// Fault, if set, is told of each event that was not taken.
	Fault func(Fault)
}

// A Progress is how far a load has come.
type Progress struct {
	// File is the one being read; BytesRead counts over all files, of
	// BytesTotal, as they are on disk.
	File                  string
	BytesRead, BytesTotal int64
	// Sent were acknowledged; Failed were not taken; Warned were taken but
	// for a part.
	Sent, Failed, Warned int
	Receipt              string
}

// A Fault says which event was not taken, or not wholly, and why.
type Fault struct {
	File   string
	Index  int
	Offset int64
	Reason string
	// Taken: the event was taken but for what Reason says.
	Taken bool
}

func (f Fault) String() string {
	return fmt.Sprintf("%s: event %d (byte %d): %s", f.File, f.Index, f.Offset, f.Reason)
}

// Files lists the event files that paths name: files as they are, of folders
// all that end in .json, .jsonl or .ndjson, with .gz or without, sorted.
func Files(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		var found []string
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			name := strings.TrimSuffix(path, ".gz")
			if err == nil && !d.IsDir() && slices.Contains([]string{".json", ".jsonl", ".ndjson"}, filepath.Ext(name)) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s holds no .json, .jsonl or .ndjson file", p)
		}
		files = append(files, found...)
	}
	return files, nil
}

// Load sends the events of files to a server, in order, and returns what
// became of them. It stops at an error of reading a file, or when the server
// can't be reached for as long as Patience; what was acknowledged stays.
func Load(ctx context.Context, files []string, o LoadOptions) (Progress, error) {
	if o.Events == 0 {
		o.Events = 500
	}
	if o.Bytes == 0 {
		o.Bytes = 2 << 20
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	l := &loader{o: o}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return l.p, err
		}
		l.p.BytesTotal += info.Size()
	}
	for _, f := range files {
		if err := l.file(ctx, f); err != nil {
			return l.p, err
		}
	}
	if o.Wait && l.p.Sent > 0 {
		return l.p, l.wait(ctx)
	}
	return l.p, nil
}

type loader struct {
	o     LoadOptions
	p     Progress
	batch []Raw
	bytes int
}

func (l *loader) file(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	l.p.File = name
	err = Split(&counted{f, &l.p.BytesRead}, func(raw Raw) error {
		l.batch = append(l.batch, raw)
		if l.bytes += len(raw.Body); len(l.batch) >= l.o.Events || l.bytes >= l.o.Bytes {
			return l.flush(ctx)
		}
		return nil
	}, func(e *SyntaxError) error {
		l.fault(Fault{File: name, Index: -1, Offset: e.Offset, Reason: e.Error()})
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := l.flush(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

type counted struct {
	io.Reader
	n *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

func (l *loader) fault(f Fault) {
	if f.Taken {
		l.p.Warned++
	} else {
		l.p.Failed++
	}
	if l.o.Fault != nil {
		l.o.Fault(f)
	}
}

// flush sends the batch.
func (l *loader) flush(ctx context.Context) error {
	if len(l.batch) == 0 {
		return nil
	}
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	sep := byte('[')
	for _, raw := range l.batch {
		_, _ = z.Write([]byte{sep}) // a buffer takes all
		_, _ = z.Write(raw.Body)
		sep = ','
	}
	_, _ = z.Write([]byte{']'})
	if err := z.Close(); err != nil {
		return err
	}
	var a BatchAnswer
	status, err := l.post(ctx, "/api/v1/lineage/batch", body.Bytes(), &a)
	if err != nil {
		return err
	}
	if status != http.StatusOK && len(a.Failed) == 0 {
		return fmt.Errorf("the server answered %d: %s", status, a.Error)
	}
	l.p.Sent += a.Summary.Successful
	if a.Receipt != "" {
		l.p.Receipt = a.Receipt
	}
	at := func(index int) Fault {
		f := Fault{File: l.p.File, Index: index}
		if index < len(l.batch) {
			f.Index, f.Offset = l.batch[index].Index, l.batch[index].Offset
		}
		return f
	}
	for _, x := range a.Failed {
		f := at(x.Index)
		f.Reason = x.Reason
		l.fault(f)
	}
	for _, x := range a.Warnings {
		f := at(x.Index)
		f.Reason, f.Taken = x.Path+": "+x.Reason, true
		l.fault(f)
	}
	l.batch, l.bytes = l.batch[:0], 0
	if l.o.Progress != nil {
		l.o.Progress(l.p)
	}
	return nil
}

// post sends a body, again while the server is down or says later.
func (l *loader) post(ctx context.Context, path string, body []byte, into any) (int, error) {
	deadline := time.Now().Add(l.o.Patience)
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		status, after, err := l.once(ctx, path, body, into)
		switch {
		case err == nil && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && status != http.StatusBadGateway && status != http.StatusGatewayTimeout:
			if status == http.StatusUnauthorized {
				return status, errors.New("the server wants a token: --token or HEADWATER_TOKEN")
			}
			return status, nil
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case time.Now().After(deadline):
			if err == nil {
				err = fmt.Errorf("the server answers %d, try later", status)
			}
			return 0, err
		}
		select {
		case <-time.After(max(wait, after)):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (l *loader) once(ctx context.Context, path string, body []byte, into any) (status int, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(l.o.Server, "/")+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	if l.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+l.o.Token)
	}
	res, err := l.o.Client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		after = time.Duration(min(s, 10)) * time.Second
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, 0, err
	}
	if err := json.Unmarshal(b, into); err != nil && res.StatusCode < 300 {
		return 0, 0, fmt.Errorf("the server at %s does not answer as headwater does: %w", l.o.Server, err)
	}
	return res.StatusCode, after, nil
}

// wait asks the server to wait until the last receipt can be read: an empty
// batch that waits does.
func (l *loader) wait(ctx context.Context) error {
	var a BatchAnswer
	status, err := l.post(ctx, "/api/v1/lineage/batch?wait=applied", gzipped("[]"), &a)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server answered %d", status)
	}
	return err
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.Bytes()
}
