package region

import (
	"fmt"
	"sync"
	"time"

	"headwater/ingest"
)

// freeSpace remembers the free space for a moment: asking for each event
// would cost more than the event.
type freeSpace struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

func (f *freeSpace) check(o *Options) error {
	if o.MinFree < 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.asked) > 200*time.Millisecond {
		f.asked, f.err = now, nil
		free, err := o.Free()
		switch {
		case err != nil:
			o.Log.Warn("ask for free space", "dir", o.Dir, "err", err)
		case free < o.MinFree:
			f.err = fmt.Errorf("%d MiB are free, %d are kept: %w", free>>20, o.MinFree>>20, ingest.ErrNoSpace)
		}
	}
	return f.err
}
