package source

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"headwater/ingest"
)

func TestOneEventIsTakenAndAnsweredWithItsReceipt(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	a := post(t, h, onePath, event("load_orders")).want(http.StatusCreated, `{"receipt":"eu@1"}`)
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if len(s.events) != 1 || len(s.events[0]) != 1 {
		t.Fatalf("taken: %+v", s.events)
	}
	d := s.events[0][0]
	if d.Subject.Region != "eu" || d.Subject.Namespace != "scheduler" || d.Subject.Name != "load_orders" || len(d.Says.Reads) != 1 || len(d.Says.Writes) != 1 {
		t.Errorf("taken: %+v", d)
	}
	if h.Stats.Accepted.Load() != 1 || h.Stats.Rejected.Load() != 0 {
		t.Errorf("counted %d accepted, %d rejected", h.Stats.Accepted.Load(), h.Stats.Rejected.Load())
	}
}

func TestEventThatIsTakenInPartIsAnsweredWithWarnings(t *testing.T) {
	s := &sink{}
	e := strings.Replace(event("j"), `"name":"b"`, `"name":"b","facets":{"schema":{"fields":"none"}}`, 1)
	post(t, newHTTP(s), onePath, e).want(http.StatusCreated, `"receipt":"eu@1"`, `"warnings":[{"path":"$.outputs[0].facets.schema`)
	a := post(t, newHTTP(s), batchPath, "["+event("i")+","+e+"]").want(http.StatusOK)
	if w := a.batch().Warnings; len(w) != 1 || w[0].Index != 1 || !strings.HasPrefix(w[0].Path, "$.outputs[0].facets.schema") {
		t.Errorf("warnings %+v", w)
	}
}

func TestWrongEventsAreRefusedWithPathAndPlace(t *testing.T) {
	for name, c := range map[string]struct{ body, path, part string }{
		"empty body":          {"", "$", "empty"},
		"white space":         {" \n", "$", ""},
		"cut off":             {event("j")[:80], "$.run", "cut off"},
		"not JSON":            {`{"eventTime": x}`, "$.eventTime", `"offset":14`},
		"text":                {"hello", "$", "not JSON"},
		"two events":          {event("a") + event("b"), "$", "more follows"},
		"an array":            {"[" + event("a") + "]", "$", "an array"},
		"no job":              {`{"eventTime":"2026-03-01T12:00:00Z","run":{"runId":"r"}}`, "$.job", "missing"},
		"no name":             {nameless, "$.job.name", "missing"},
		"name of wrong type":  {strings.Replace(event("j"), `"name":"j"`, `"name":5`, 1), "$.job.name", "a number"},
		"empty namespace":     {strings.Replace(event("j"), `"namespace":"scheduler"`, `"namespace":""`, 1), "$.job.namespace", "empty"},
		"inputs not an array": {strings.Replace(event("j"), `"inputs":[{"namespace":"hive://m:9083","name":"a"}]`, `"inputs":{}`, 1), "$.inputs", "an object"},
		"input without name":  {strings.Replace(event("j"), `,"name":"a"`, ``, 1), "$.inputs[0].name", "missing"},
		"no time":             {strings.Replace(event("j"), `"eventTime":"2026-03-01T12:00:00Z",`, "", 1), "$.eventTime", "missing"},
		"not a time":          {strings.Replace(event("j"), "2026-03-01T12:00:00Z", "yesterday", 1), "$.eventTime", "not a time"},
		"name of a megabyte":  {event(strings.Repeat("n", 1<<20)), "$.run.runId", "1048580 bytes"},
		"nested 5,000 deep":   {strings.Replace(event("j"), `"run":{`, `"x":`+strings.Repeat(`{"x":`, 5000)+"1"+strings.Repeat("}", 5000)+`,"run":{`, 1), "$.x.x", "deeper"},
		"never closed":        {strings.Repeat(`{"x":[`, 1<<16), "$.x[0]", "deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			h := newHTTP(s)
			post(t, h, onePath, c.body).want(http.StatusBadRequest, fmt.Sprintf(`"path":"%s`, c.path), c.part)
			if s.appends != 0 || h.Stats.Rejected.Load() != 1 {
				t.Errorf("%d appends, %d counted as rejected; want 0, 1", s.appends, h.Stats.Rejected.Load())
			}
		})
	}
}

func TestUnusualEventsAreTaken(t *testing.T) {
	name := func(n string) string { return strings.Replace(event("j"), `"name":"b"`, `"name":"`+n+`"`, 1) }
	when := func(s string) string { return strings.Replace(event("j"), "2026-03-01T12:00:00Z", s, 1) }
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for title, c := range map[string]struct {
		body, name string
		at         time.Time
	}{
		"Chinese, Arabic, emoji":  {name("仓库.订单_طلبات_🛒"), "仓库.订单_طلبات_🛒", noon},
		"escapes":                 {name(`\u4ed3\u5e93\ud83d\uded2 \"x\"\n`), "仓库🛒 \"x\"\n", noon},
		"keys twice":              {strings.Replace(event("j"), `"outputs":[`, `"outputs":[{"namespace":"x","name":"gone"}],"outputs":[`, 1), "b", noon},
		"nested 900 deep":         {strings.Replace(event("j"), `"run":{`, `"x":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`,"run":{`, 1), "b", noon},
		"no zone":                 {when("2026-03-01T12:00:00"), "b", noon},
		"nanoseconds":             {when("2026-03-01T12:00:00.123456789+00:00"), "b", noon.Add(123456789)},
		"an offset":               {when("2026-03-01T20:00:00+08:00"), "b", noon},
		"pretty-printed, CRLF":    {strings.ReplaceAll(event("j"), ",", ",\r\n\t"), "b", noon},
		"unknown fields and null": {strings.Replace(event("j"), `"run":{`, `"newField":{"a":[null]},"dataset":null,"run":{`, 1), "b", noon},
	} {
		t.Run(title, func(t *testing.T) {
			s := &sink{}
			post(t, newHTTP(s), onePath, c.body).want(http.StatusCreated)
			if len(s.events) != 1 {
				t.Fatal("not taken")
			}
			d := s.events[0][0]
			if got := d.Says.Writes; len(got) != 1 || got[0].Name.Name != c.name {
				t.Errorf("writes %+v, want %s", got, c.name)
			}
			if got := time.Unix(0, d.Time); !got.Equal(c.at) {
				t.Errorf("time %s, want %s", got.UTC(), c.at)
			}
		})
	}
}

func TestTimeThatLiesFarAheadBecomesTheArrivalAndIsCounted(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	before := time.Now()
	ahead := before.AddDate(5, 0, 0).UTC().Format(time.RFC3339)
	soon := before.Add(30 * time.Minute).UTC().Truncate(time.Second)
	post(t, h, onePath, strings.Replace(event("j"), "2026-03-01T12:00:00Z", ahead, 1)).want(http.StatusCreated)
	post(t, h, batchPath, "["+strings.Replace(event("i"), "2026-03-01T12:00:00Z", soon.Format(time.RFC3339), 1)+","+
		strings.Replace(event("k"), "2026-03-01T12:00:00Z", ahead, 1)+"]").want(http.StatusOK)
	after := time.Now()
	for i, want := range [][2]time.Time{{before, after}, {soon, soon}, {before, after}} {
		if got := time.Unix(0, s.events[i][0].Time); got.Before(want[0]) || got.After(want[1]) {
			t.Errorf("event %d has the time %s, want between %s and %s", i, got, want[0], want[1])
		}
	}
	if got := h.Stats.Clamped.Load(); got != 2 {
		t.Errorf("%d counted as clamped, want 2", got)
	}
}

func TestBatchIsAnsweredInTheFormOfOpenLineage(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	post(t, h, batchPath, "["+event("a")+",\n"+event("b")+"]").
		want(http.StatusOK, `{"status":"success","summary":{"received":2,"successful":2,"failed":0,"retriable":0,"non_retriable":0},"failed_events":[],"receipt":"eu@2"}`)
	post(t, h, batchPath, event("c")+"\n"+event("d")+event("e")).want(http.StatusOK, `"receipt":"eu@5"`)
	if s.jobs() != "a b c d e" || s.appends != 2 {
		t.Errorf("taken: %s, in %d appends", s.jobs(), s.appends)
	}
}

func TestBadEventInABatchDoesNotHoldUpTheOthers(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	a := post(t, h, batchPath, "["+event("a")+","+nameless+","+event("b")+",5,"+event("c")+"]").want(http.StatusOK, `"receipt":"eu@3"`).batch()
	if got, want := counts(a), "partial_success: 5 received, 3 successful, 2 failed, 0 retriable, 2 non-retriable"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(a.Failed) != 2 || a.Failed[0].Index != 1 || !strings.Contains(a.Failed[0].Reason, "$.job.name: is missing") || a.Failed[1].Index != 3 || !strings.Contains(a.Failed[1].Reason, "a number") {
		t.Errorf("failed events %+v", a.Failed)
	}
	if s.jobs() != "a b c" {
		t.Errorf("taken: %s", s.jobs())
	}
	if h.Stats.Accepted.Load() != 3 || h.Stats.Rejected.Load() != 2 {
		t.Errorf("counted %d accepted, %d rejected; want 3, 2", h.Stats.Accepted.Load(), h.Stats.Rejected.Load())
	}
}

func TestBatchOfBadEventsOnlyIsRefused(t *testing.T) {
	s := &sink{err: ingest.ErrOverloaded}
	a := post(t, newHTTP(s), batchPath, "["+nameless+","+nameless+"]").want(http.StatusBadRequest).batch()
	if got, want := counts(a), "failure: 2 received, 0 successful, 2 failed, 0 retriable, 2 non-retriable"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(a.Failed) != 2 || a.Receipt != "" || s.appends != 0 {
		t.Errorf("%d failed events, receipt %q, %d appends", len(a.Failed), a.Receipt, s.appends)
	}
}

func TestEmptyBatchIsTakenAndEmptyBodyIsNot(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	a := post(t, h, batchPath, " [ ] ").want(http.StatusOK, `"failed_events":[]`).batch()
	if got, want := counts(a), "success: 0 received, 0 successful, 0 failed, 0 retriable, 0 non-retriable"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, body := range []string{"", " \n"} {
		post(t, h, batchPath, body).want(http.StatusBadRequest, "it is empty")
	}
}

func TestBatchThatIsNotJSONIsNotTakenAtAll(t *testing.T) {
	e := event("a")
	for title, c := range map[string]struct {
		body   string
		offset int
	}{
		"array is not closed":    {"[" + e, len(e) + 1},
		"trailing comma":         {"[" + e + ",]", len(e) + 2},
		"no comma":               {"[" + e + " " + e + "]", len(e) + 2},
		"text after the array":   {"[" + e + "] and more", len(e) + 3},
		"broken second event":    {"[" + e + `,{"a":tru}]`, len(e) + 2 + 8},
		"cut in a string":        {"[" + e + `,{"a":"x`, len(e) + 2 + 7},
		"broken second line":     {e + "\n{\"a\" 1}\n" + e, len(e) + 1 + 5},
		"text between the lines": {e + "\nhello\n" + e, len(e) + 1},
		"nested 20,000 deep":     {"[" + e + "," + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "]", len(e) + 2 + 10_000},
		"gzip inside":            {zipped("[" + e + "]"), -1},
	} {
		t.Run(title, func(t *testing.T) {
			s := &sink{}
			want := fmt.Sprintf(`"offset":%d}`, c.offset)
			if c.offset < 0 {
				want = "Content-Encoding: gzip"
			}
			post(t, newHTTP(s), batchPath, c.body).want(http.StatusBadRequest, `"path":"$"`, want)
			if s.appends != 0 {
				t.Errorf("taken: %s", s.jobs())
			}
		})
	}
}

func TestBatchOfTooManyEventsIsRefusedAndManyFaultsAreNotAllListed(t *testing.T) {
	s := &sink{}
	a := post(t, newHTTP(s), batchPath, "["+strings.Repeat("{},", 4999)+event("a")+"]").want(http.StatusOK).batch()
	if a.Summary.Failed != 4999 || len(a.Failed) != maxListed || a.Summary.Successful != 1 {
		t.Errorf("%+v, %d listed; want %d", a.Summary, len(a.Failed), maxListed)
	}
	post(t, newHTTP(s), batchPath, strings.Repeat("{}", maxEvents+1)).want(http.StatusRequestEntityTooLarge, "100000 events")
}

func TestDecoderThatPanicsRefusesItsEventOnly(t *testing.T) {
	s := &sink{}
	h := newHTTP(s, func(o *HTTPOptions) {
		decode := o.Decode
		o.Decode = func(m ingest.Message) ingest.Decoded {
			if strings.Contains(string(m.Body), `"trap"`) {
				panic("injected")
			}
			return decode(m)
		}
	})
	post(t, h, onePath, event("trap")).want(http.StatusBadRequest, "can't be decoded")
	a := post(t, h, batchPath, "["+event("a")+","+event("trap")+","+event("b")+"]").want(http.StatusOK).batch()
	if len(a.Failed) != 1 || a.Failed[0].Index != 1 || s.jobs() != "a b" {
		t.Errorf("failed %+v, taken %s", a.Failed, s.jobs())
	}
}
