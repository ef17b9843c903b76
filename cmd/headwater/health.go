package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// ready says whether a server has started, and whether it is stopping.
type ready struct{ up, stopping atomic.Bool }

// healthz answers whether the process is worth keeping.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "ok")
}

// maxReadyLag is how far behind its log a region may be and still be ready.
const maxReadyLag = time.Minute

// readyz answers whether requests should come here.
func (s *server) readyz(w http.ResponseWriter, _ *http.Request) {
	st := s.node.Status()
	var why string
	switch {
	case !s.ready.up.Load():
		why = "starting"
	case s.ready.stopping.Load():
		why = "stopping"
	case st.Trouble != nil:
		why = st.Trouble.Error()
	case st.Intake != nil:
		why = st.Intake.Error()
	case st.Lag > maxReadyLag:
		why = fmt.Sprintf("%s behind the log", st.Lag.Round(time.Second))
	}
	if why != "" {
		http.Error(w, why, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "ok %s@%d\n", st.Region, st.Mark.Position)
}
