package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"headwater/graph"
	"headwater/region/bus"
)

// A Stream is the change stream of a region as its topic has it.
type Stream struct {
	Options
	// From is the stream of the region itself (embedded.Client), which answers
	// snapshots, and whether it knows a cursor that is ahead of the topic. A
	// topic tells what has changed, not all that there is.
	From bus.Stream
	// Silence is after how long without a record it is ErrSilent. It is more
	// than the Options.Idle of what is published. Default: 15 s.
	Silence time.Duration
}

var _ bus.Stream = (*Stream)(nil)

// atOnce is how many records are read at a time.
const atOnce = 1024

// Follow implements bus.Stream. What is filtered out has come all the same.
func (s *Stream) Follow(ctx context.Context, c bus.Cursor, f bus.Filter, emit func([]bus.Entry) error) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if err := s.follow(ctx, c, f.Wants(), emit); err != nil {
		return fmt.Errorf("changes of %q from %s/%d: %w", s.Region, s.Topic, s.Partition, err)
	}
	return nil
}

func (s *Stream) follow(ctx context.Context, c bus.Cursor, wants *bus.Wants, emit func([]bus.Entry) error) error {
	q, err := openPartition(ctx, &s.Options)
	if err != nil {
		return err
	}
	defer q.close()
	offset, ahead, err := q.find(ctx, c)
	if err != nil {
		return err
	}
	q.read(offset)
	p := place{at: c}
	asked := time.Time{}
	for {
		if ahead = ahead && !p.sure && c.Sequence > 0; ahead && time.Since(asked) > askAgain {
			if err := s.ask(ctx, c); err != nil {
				return err
			}
			asked = time.Now()
		}
		records, err := s.poll(ctx, q)
		if err != nil {
			return err
		}
		var entries []bus.Entry
		var refused error
		for _, k := range records {
			r, err := recordOf(&s.Options, k)
			if err != nil {
				return err
			}
			e, err := p.take(&r)
			if err != nil {
				refused = err
				break
			}
			if e != nil {
				wants.Entry(e)
				entries = append(entries, *e)
			}
		}
		if len(entries) > 0 {
			if err := emit(entries); err != nil {
				return err
			}
		}
		if refused != nil {
			return refused
		}
	}
}

// poll waits for records, but not forever.
func (s *Stream) poll(ctx context.Context, q *partition) ([]*kgo.Record, error) {
	silence := s.Silence
	if silence == 0 {
		silence = 15 * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, silence, fmt.Errorf("%w for %s", bus.ErrSilent, silence))
	defer cancel()
	return q.poll(ctx, atOnce)
}

// askAgain is after how long a region is asked again for a cursor to which its
// topic has not come.
const askAgain = 5 * time.Second

var errKnown = errors.New("the cursor is known")

// ask asks the region whether a cursor to which the topic has not come is one
// of its stream: one from a snapshot is, unless the region was restored since.
func (s *Stream) ask(ctx context.Context, c bus.Cursor) error {
	err := s.From.Follow(ctx, c, bus.Filter{}, func([]bus.Entry) error { return errKnown })
	if errors.Is(err, errKnown) {
		return nil
	}
	return err
}

// Snapshot implements bus.Stream: the region answers it. Its cursor may be
// ahead of the topic, which then comes to it.
func (s *Stream) Snapshot(ctx context.Context, f bus.Filter, emit func([]graph.Name) error) (bus.Cursor, error) {
	return s.From.Snapshot(ctx, f, emit)
}
