package source

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"headwater/ingest"
)

// write writes files below a new folder and returns it. Those whose name ends
// in .gz are packed.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, ".gz") {
			text = zipped(text)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A round tripper answers requests in place, without a connection.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// inPlace returns a client of a handler. before is called first; its error is
// that of the connection.
func inPlace(h http.Handler, before func(*http.Request) error) *http.Client {
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if before != nil {
			if err := before(r); err != nil {
				return nil, err
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result(), nil
	})}
}

const address = "http://headwater.invalid:8080"

func lines(jobs ...string) string {
	var b strings.Builder
	for _, j := range jobs {
		b.WriteString(event(j) + "\n")
	}
	return b.String()
}

func TestFilesOfAFolderAreFoundInOrder(t *testing.T) {
	dir := write(t, map[string]string{"b.json": "", "a.ndjson": "", "sub/c.jsonl.gz": "x", "sub/d.txt": "", "sub/e.csv.gz": "x", "z.json.gz": "x", "notes": ""})
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "notes"), filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "notes")
	got, err := Files([]string{notes, dir})
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], dir+"/")
	}
	if want := "notes a.ndjson b.json link.json sub/c.jsonl.gz z.json.gz"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v, found %v, want %s", err, got, want)
	}
	if _, err := Files([]string{filepath.Join(dir, "nothing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Files([]string{filepath.Join(dir, "folder.json")}); err == nil || !strings.Contains(err.Error(), "holds no .json") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestLoadSendsAllFormsInOrder(t *testing.T) {
	s := &sink{}
	srv := httptest.NewServer(newHTTP(s))
	defer srv.Close()
	dir := write(t, map[string]string{
		"1.ndjson":   lines("a", "b"),
		"2.json":     "[" + event("c") + ",\n" + event("d") + "]",
		"3.jsonl.gz": lines("e", "f"),
		"4.json":     strings.ReplaceAll(event("g"), ",", ",\n  ") + event("h"),
	})
	files, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var told []Progress
	p, err := Load(context.Background(), files, LoadOptions{Server: srv.URL + "/", Client: srv.Client(), Events: 2, Wait: true, Progress: func(p Progress) { told = append(told, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if s.jobs() != "a b c d e f g h" || p.Sent != 8 || p.Failed != 0 || p.Receipt != "eu@8" || p.BytesRead != p.BytesTotal {
		t.Errorf("taken %s; %+v", s.jobs(), p)
	}
	if len(s.waited) != 1 || s.waited[0].Offset != 8 {
		t.Errorf("waited for %v", s.waited)
	}
	if len(told) != 4 || told[1].Sent != 4 || told[1].File != files[1] || told[3].BytesRead != p.BytesTotal || told[0].BytesTotal != p.BytesTotal {
		t.Errorf("progress %+v", told)
	}
}

func TestLoadBoundsBatchesByEventsAndBytes(t *testing.T) {
	var sizes []string
	events := 0
	s := &sink{}
	client := inPlace(newHTTP(s), func(*http.Request) error {
		if len(s.events) > 0 {
			sizes = append(sizes, fmt.Sprint(len(s.events)-events))
		}
		events = len(s.events)
		return nil
	})
	large := strings.Replace(event("large"), `"run":{`, `"x":"`+strings.Repeat("y", 5000)+`","run":{`, 1) + "\n"
	dir := write(t, map[string]string{"e.json": lines("a", "b", "c", "d", "e") + large + lines("f")})
	p, err := Load(context.Background(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client, Events: 3, Bytes: 2000, Wait: true})
	if want := "3 2 1 1"; err != nil || strings.Join(sizes, " ") != want || s.jobs() != "a b c d e large f" || p.Sent != 7 {
		t.Errorf("%v, batches of %v, want %s; taken %s", err, sizes, want, s.jobs())
	}
}

func TestLoadNamesWhatWasNotTaken(t *testing.T) {
	s := &sink{}
	warned := strings.Replace(event("w"), `"name":"b"`, `"name":"b","facets":{"schema":{"fields":"none"}}`, 1)
	dir := write(t, map[string]string{
		"1.ndjson": event("a") + "\n" + nameless + "\n" + event("b")[:50] + "\n" + event("c") + "\n" + warned + "\n",
		"2.json":   "[" + event("d") + "," + nameless + "," + event("e") + ",]",
	})
	files, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	p, err := Load(context.Background(), files, LoadOptions{Server: address, Client: inPlace(newHTTP(s), nil), Events: 2, Fault: func(f Fault) {
		faults = append(faults, fmt.Sprintf("%t %s", f.Taken, strings.TrimPrefix(f.String(), dir+"/")))
	}})
	if err != nil || s.jobs() != "a c w d e" || p.Sent != 5 || p.Failed != 4 || p.Warned != 1 {
		t.Errorf("%v, taken %s; %+v", err, s.jobs(), p)
	}
	a, n := len(event("a")), len(nameless)
	for i, want := range []string{
		fmt.Sprintf("false 1.ndjson:2: event 1, byte %d: $.job.name: is missing", a+1),
		fmt.Sprintf("false 1.ndjson:3: byte %d: the event is not JSON: ", a+n+2),
		fmt.Sprintf("true 1.ndjson:5: event 3, byte %d: $.outputs[0].facets.schema", a+n+50+a+4),
		fmt.Sprintf("false 2.json:1: event 1, byte %d: $.job.name: is missing", a+2),
		fmt.Sprintf("false 2.json:1: byte %d: an event is missing before ']'; the array is not read further", 2*a+n+4),
	} {
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, want) }) {
			t.Errorf("fault %d, %s, is not among\n%s", i, want, strings.Join(faults, "\n"))
		}
	}
	if len(faults) != 5 {
		t.Errorf("faults\n%s", strings.Join(faults, "\n"))
	}
}

func TestLoadHalvesWhatIsTooLargeForTheServer(t *testing.T) {
	s := &sink{}
	h := newHTTP(s, func(o *HTTPOptions) { o.MaxBody = 2000 })
	large := strings.Replace(event("large"), `"run":{`, `"x":"`+strings.Repeat("y", 5000)+`","run":{`, 1) + "\n"
	dir := write(t, map[string]string{"e.json": lines("a", "b", "c", "d", "e", "f", "g") + large + lines("h", "i")})
	var faults []string
	p, err := Load(context.Background(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: inPlace(h, nil), Fault: func(f Fault) { faults = append(faults, f.String()) }})
	if err != nil || s.jobs() != "a b c d e f g h i" || p.Sent != 9 || p.Failed != 1 || len(faults) != 1 || !strings.Contains(faults[0], ":8: event 7") {
		t.Errorf("%v, taken %s, faults %q, %+v", err, s.jobs(), faults, p)
	}
}

func TestLoadTriesAgainWhileTheServerIsDownOrOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		tries := 0
		s := &sink{appendErr: func(n int) error {
			return []error{fmt.Errorf("busy: %w", ingest.ErrOverloaded), fmt.Errorf("full: %w", ingest.ErrNoSpace), nil}[min(n, 2)]
		}}
		client := inPlace(newHTTP(s), func(*http.Request) error {
			if tries++; tries <= 3 {
				return refused
			}
			return nil
		})
		dir := write(t, map[string]string{"e.json": lines("a", "b")})
		var waits []string
		begun := time.Now()
		p, err := Load(t.Context(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client, Waiting: func(err error, left time.Duration) {
			waits = append(waits, fmt.Sprintf("%s %s: %v", time.Since(begun), left, err))
		}})
		// Refused: 0.2, 0.4, 0.8 s. Overloaded: Retry-After is 1, the pace 1.6 s.
		// No space: Retry-After is 30 s.
		if took := time.Since(begun); err != nil || took != 33*time.Second || p.Sent != 2 || s.jobs() != "a b" {
			t.Errorf("%v after %s; taken %s", err, took, s.jobs())
		}
		if len(waits) != 5 || !strings.Contains(waits[0], "0s 1m0s:") || !strings.Contains(waits[0], "connection refused; is a server running there?") ||
			!strings.Contains(waits[3], "the server answers 503: busy") || !strings.HasPrefix(waits[4], "3s 57s: the server answers 503: full") {
			t.Errorf("told:\n%s", strings.Join(waits, "\n"))
		}
	})
}

func TestLoadGivesUpWhenPatienceEnds(t *testing.T) {
	for title, c := range map[string]struct {
		client   func(*sink) *http.Client
		patience time.Duration
		want     string
	}{
		"refused": {func(s *sink) *http.Client {
			return inPlace(newHTTP(s), func(*http.Request) error { return errors.New("connection refused") })
		}, 0, "connection refused"},
		"overloaded": {func(s *sink) *http.Client { s.err = ingest.ErrOverloaded; return inPlace(newHTTP(s), nil) }, 0, "503"},
		"never": {func(s *sink) *http.Client {
			return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
		}, 0, "deadline exceeded"},
		"no patience": {func(s *sink) *http.Client { s.err = ingest.ErrNoSpace; return inPlace(newHTTP(s), nil) }, -1, "503"},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sink{}
				dir := write(t, map[string]string{"e.json": lines("a")})
				begun := time.Now()
				p, err := Load(t.Context(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: c.client(s), Patience: c.patience, Wait: true})
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "send events of "+dir) || p.Sent != 0 {
					t.Errorf("%v, %+v", err, p)
				}
				least, most := time.Minute, 2*time.Minute
				if c.patience < 0 {
					least, most = 0, 0
				}
				if took := time.Since(begun); took < least || took > most {
					t.Errorf("gave up after %s", took)
				}
			})
		})
	}
}

func TestLoadWaitsAsLongAsTheServerGoesOnApplying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{waitErr: errors.New("unset")}
		applied := 0
		client := inPlace(newHTTP(s), func(r *http.Request) error {
			if r.URL.RawQuery == "" {
				return nil
			}
			time.Sleep(30 * time.Second)
			s.waitErr = fmt.Errorf("eu@1 is not applied yet, eu@%d is: %w", min(applied, 10), context.DeadlineExceeded)
			if applied++; applied == 20 {
				s.waitErr = nil
			}
			return nil
		})
		dir := write(t, map[string]string{"e.json": lines("a")})
		_, err := Load(t.Context(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client, Wait: true, Patience: 20 * time.Minute})
		if err != nil {
			t.Errorf("while it goes on: %v", err)
		}
		// It stands still for longer than patience.
		applied = 0
		_, err = Load(t.Context(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client, Wait: true, Patience: time.Minute})
		if err == nil || !strings.Contains(err.Error(), "all was taken; wait until it can be read: the server is applying: eu@1 is not applied yet, eu@10 is") && !strings.Contains(err.Error(), "504") {
			t.Errorf("when it stands still: %v", err)
		}
		if applied != 13 {
			t.Errorf("asked %d times, want 11 while it goes on and 2 in the minute after that", applied)
		}
	})
}

func TestLoadStopsAtOnceAtWhatTryingAgainWontMend(t *testing.T) {
	dir := write(t, map[string]string{"e.json": lines("a")})
	for title, c := range map[string]struct {
		server string
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"no scheme":         {"127.0.0.1:8080", nil, "not one like http://"},
		"no host":           {"http://", nil, "not one like http://"},
		"another scheme":    {"ftp://x", nil, "not one like http://"},
		"a token is wanted": {"", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "wants a token: --token"},
		"not headwater":     {"", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "does not answer as headwater does"},
		"says nothing":      {"", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "does not answer as headwater does"},
		"counts wrong":      {"", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"success"}`) }, "received 0 events of 1"},
		"no such path":      {"", http.NotFound, "answered 404: Not Found"},
		"a whole refusal":   {"", func(w http.ResponseWriter, _ *http.Request) { reply(w, 400, Problem{Error: "no"}) }, "answered 400: no"},
	} {
		t.Run(title, func(t *testing.T) {
			if c.server == "" {
				c.server = address
			}
			tries := 0
			client := inPlace(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tries++
				c.answer(w, r)
			}), nil)
			_, err := Load(context.Background(), []string{dir + "/e.json"}, LoadOptions{Server: c.server, Client: client})
			if err == nil || !strings.Contains(err.Error(), c.want) || tries > 1 {
				t.Errorf("%v after %d tries, want %q", err, tries, c.want)
			}
		})
	}
	for _, lasts := range []error{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, http.ErrSchemeMismatch} {
		tries := 0
		client := inPlace(http.NotFoundHandler(), func(*http.Request) error { tries++; return lasts })
		if _, err := Load(context.Background(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client}); !errors.Is(err, lasts) || tries != 1 {
			t.Errorf("%v after %d tries", err, tries)
		}
	}
}

func TestLoadSendsTheToken(t *testing.T) {
	s := &sink{}
	h := newHTTP(s, func(o *HTTPOptions) { o.Token = "s3cret" })
	dir := write(t, map[string]string{"e.json": lines("a")})
	p, err := Load(context.Background(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: inPlace(h, nil), Token: "s3cret"})
	if err != nil || p.Sent != 1 {
		t.Errorf("%v, %+v", err, p)
	}
}

func TestLoadStopsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		dir := write(t, map[string]string{"e.json": lines("a")})
		client := inPlace(newHTTP(&sink{err: ingest.ErrOverloaded}), nil)
		begun := time.Now()
		if _, err := Load(ctx, []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("stopped after %s", took)
		}
	})
}

func TestLoadStopsAtAFileThatCannotBeRead(t *testing.T) {
	s := &sink{}
	dir := write(t, map[string]string{"1.json": lines("a"), "3.json": lines("b")})
	p, err := Load(context.Background(), []string{dir + "/1.json", dir, dir + "/3.json"}, LoadOptions{Server: address, Client: inPlace(newHTTP(s), nil)})
	if err == nil || !strings.Contains(err.Error(), dir) || s.jobs() != "a" || p.Sent != 1 {
		t.Errorf("%v, taken %s, %+v", err, s.jobs(), p)
	}
	if _, err := Load(context.Background(), []string{dir + "/1.json", dir + "/2.json"}, LoadOptions{Server: address}); !errors.Is(err, os.ErrNotExist) || s.appends != 1 {
		t.Errorf("%v; nothing is to be sent where a file is not there", err)
	}
}

// The body that is sent is one that any gzip reader and JSON reader can read.
func TestLoadPacksBatches(t *testing.T) {
	var bodies []string
	client := inPlace(newHTTP(&sink{}), func(r *http.Request) error {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(iotest.OneByteReader(strings.NewReader(string(b))))
		z, err := gzip.NewReader(strings.NewReader(string(b)))
		if err != nil {
			return err
		}
		b, err = io.ReadAll(z)
		bodies = append(bodies, string(b))
		return err
	})
	dir := write(t, map[string]string{"e.json": lines("a", "b", "c")})
	if _, err := Load(context.Background(), []string{dir + "/e.json"}, LoadOptions{Server: address, Client: client, Events: 2, Wait: true}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"[" + event("a") + "," + event("b") + "]", "[" + event("c") + "]", "[]"}; !slices.Equal(bodies, want) {
		t.Errorf("sent\n%s", strings.Join(bodies, "\n"))
	}
}
