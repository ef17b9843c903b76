package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// LoadOptions say how files are sent to a server. Server is needed.
type LoadOptions struct {
	// Server is the base URL: http://127.0.0.1:8080.
	Server string
	Token  string
	// Events and Bytes bound one batch; an event that is larger goes alone.
	// Defaults: 500 and 2 MiB.
	Events, Bytes int
	// Wait waits at the end until all can be read.
	Wait bool
	// Patience is how long a server that is down or overloaded is waited for.
	// Default: one minute; less than 0 is not at all.
	Patience time.Duration
	Client   *http.Client
	// Progress, if set, is told after each batch.
	Progress func(Progress)
	// Fault, if set, is told of each event that was not taken.
	Fault func(Fault)
	// Waiting, if set, is told why a server is waited for, and how long still
	// at most.
	Waiting func(why error, patience time.Duration)
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
	File string
	// Index counts the events of the file from 0; it is -1 for what is not
	// JSON. Line counts from 1, Offset is bytes of the unpacked file.
	Index  int
	Line   int
	Offset int64
	Reason string
	// Taken: the event was taken but for what Reason says.
	Taken bool
}

func (f Fault) String() string {
	if f.Index < 0 {
		return fmt.Sprintf("%s:%d: byte %d: %s", f.File, f.Line, f.Offset, f.Reason)
	}
	return fmt.Sprintf("%s:%d: event %d, byte %d: %s", f.File, f.Line, f.Index, f.Offset, f.Reason)
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
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		return Progress{}, err
	}
	l := &loader{o: o, z: z}
	if u, err := url.Parse(o.Server); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return l.p, fmt.Errorf("the server's address %q is not one like http://127.0.0.1:8080", o.Server)
	}
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
	z     *gzip.Writer
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
		if len(l.batch) > 0 && l.bytes+len(raw.Body) > l.o.Bytes {
			if err := l.flush(ctx); err != nil {
				return err
			}
		}
		l.batch = append(l.batch, raw)
		if l.bytes += len(raw.Body); len(l.batch) >= l.o.Events {
			return l.flush(ctx)
		}
		return nil
	}, func(e *SyntaxError) error {
		l.fault(Fault{File: name, Index: -1, Line: e.Line, Offset: e.Offset, Reason: e.Reason})
		return ctx.Err()
	})
	// What was read before an error is sent all the same.
	return errors.Join(err, l.flush(ctx))
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

// flush sends the batch. It is empty then, whatever becomes of it.
func (l *loader) flush(ctx context.Context) error {
	batch := l.batch
	l.batch, l.bytes = nil, 0
	if len(batch) == 0 {
		return nil
	}
	if err := l.send(ctx, batch); err != nil {
		return fmt.Errorf("send events of %s: %w", l.p.File, err)
	}
	if l.o.Progress != nil {
		l.o.Progress(l.p)
	}
	return nil
}

// pack makes a body of events: a JSON array, with gzip.
func (l *loader) pack(batch []Raw) []byte {
	var body bytes.Buffer // takes all that is written to it
	l.z.Reset(&body)
	sep := []byte("[")
	for _, raw := range batch {
		_, _ = l.z.Write(sep)
		_, _ = l.z.Write(raw.Body)
		sep = []byte(",")
	}
	if len(batch) == 0 {
		_, _ = l.z.Write(sep)
	}
	_, _ = l.z.Write([]byte("]"))
	_ = l.z.Close()
	return body.Bytes()
}

// send sends events; if the server finds them too large together, one half
// after the other.
func (l *loader) send(ctx context.Context, batch []Raw) error {
	a, status, err := l.post(ctx, "/api/v1/lineage/batch", l.pack(batch))
	switch half := len(batch) / 2; {
	case err != nil:
		return err
	case status == http.StatusRequestEntityTooLarge && half > 0:
		if err := l.send(ctx, batch[:half]); err != nil {
			return err
		}
		return l.send(ctx, batch[half:])
	case status == http.StatusRequestEntityTooLarge:
		l.fault(l.at(batch[0], "it is larger than what the server takes: "+a.Error))
		return nil
	case status != http.StatusOK && len(a.Failed) == 0:
		return fmt.Errorf("the server answered %d: %s", status, a.Error)
	case a.Summary.Received != len(batch):
		return fmt.Errorf("the server says that it received %d events of %d", a.Summary.Received, len(batch))
	}
	l.p.Sent += a.Summary.Successful
	if a.Receipt != "" {
		l.p.Receipt = a.Receipt
	}
	for _, x := range a.Failed {
		if x.Index >= 0 && x.Index < len(batch) {
			l.fault(l.at(batch[x.Index], x.Reason))
		}
	}
	for _, x := range a.Warnings {
		if x.Index >= 0 && x.Index < len(batch) {
			f := l.at(batch[x.Index], x.Path+": "+x.Reason)
			f.Taken = true
			l.fault(f)
		}
	}
	return nil
}

func (l *loader) at(raw Raw, reason string) Fault {
	return Fault{File: l.p.File, Index: raw.Index, Line: raw.Line, Offset: raw.Offset, Reason: reason}
}
