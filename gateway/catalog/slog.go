package catalog

import (
	"context"
	"io"
	"log/slog"

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
	s.to.Log(context.Background(), as, "raft: "+msg, args...)
}
