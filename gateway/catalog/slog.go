package catalog

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"

	"github.com/hashicorp/go-hclog"
)

// raftLog returns a logger for raft that writes to slog. What raft calls
// info is debug here: each vote and each connection.
func raftLog(to *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Off})
	l.RegisterSink(slogSink{to})
	return l
}

type slogSink struct{ to *slog.Logger }

func (s slogSink) Accept(name string, level hclog.Level, msg string, args ...any) {
	as := slog.LevelDebug
	switch level {
	case hclog.Warn:
		as = slog.LevelWarn
	case hclog.Error:
		as = slog.LevelError
	}
	for _, a := range args {
		if err, ok := a.(error); ok && errors.Is(err, net.ErrClosed) {
			as = slog.LevelDebug // it is closed here, and raft was reading from it
		}
	}
	s.to.Log(context.Background(), as, "raft: "+msg, args...)
}
