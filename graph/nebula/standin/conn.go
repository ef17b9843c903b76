package standin

import (
	"net"
	"sync"
	"time"
)

// A conn is a connection that can be waited on: whether the client gives it up.
type conn struct {
	net.Conn
	mu    sync.Mutex // guards early
	early []byte     // what came while it was waited on
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	c.mu.Lock()
	n := copy(b, c.early)
	c.early = c.early[n:]
	c.mu.Unlock()
	if n > 0 {
		return n, nil
	}
	return c.Conn.Read(b)
}

// wait waits for release to be closed, and returns false where the connection
// is closed before.
func (c *conn) wait(release <-chan struct{}) bool {
	gone, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		var b [1]byte
		for {
			n, err := c.Conn.Read(b[:])
			c.mu.Lock()
			c.early = append(c.early, b[:n]...)
			c.mu.Unlock()
			if err != nil {
				if e, ok := err.(net.Error); !ok || !e.Timeout() {
					close(gone)
				}
				return
			}
		}
	}()
	released := false
	select {
	case <-release:
		released = true
	case <-gone:
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	<-read
	_ = c.SetReadDeadline(time.Time{})
	return released
}
