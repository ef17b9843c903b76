package kafka

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"headwater/region/bus"
)

// A partition is a region's, as far as it went when it was opened.
type partition struct {
	o      *Options
	client *kgo.Client
	// start is the oldest offset that is kept, end that behind the newest.
	start, end int64
}

func openPartition(ctx context.Context, o *Options) (*partition, error) {
	client, err := o.client(kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchMaxWait(500*time.Millisecond))
	if err != nil {
		return nil, err
	}
	q := &partition{o: o, client: client}
	if err := q.bounds(ctx); err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

func (q *partition) close() { q.client.Close() }

func (q *partition) bounds(ctx context.Context) error {
	admin := kadm.NewClient(q.client)
	starts, err := admin.ListStartOffsets(ctx, q.o.Topic)
	if err != nil {
		return err
	}
	ends, err := admin.ListEndOffsets(ctx, q.o.Topic)
	if err != nil {
		return err
	}
	for _, l := range [...]struct {
		listed kadm.ListedOffsets
		to     *int64
	}{{starts, &q.start}, {ends, &q.end}} {
		found, ok := l.listed.Lookup(q.o.Topic, q.o.Partition)
		if !ok {
			return fmt.Errorf("the topic has no partition %d", q.o.Partition)
		}
		if found.Err != nil {
			return found.Err
		}
		*l.to = found.Offset
	}
	return nil
}

// read goes to an offset; poll returns what stands there and behind.
func (q *partition) read(offset int64) {
	at := map[string]map[int32]kgo.Offset{q.o.Topic: {q.o.Partition: kgo.NewOffset().At(offset)}}
	q.client.RemoveConsumePartitions(map[string][]int32{q.o.Topic: {q.o.Partition}})
	q.client.AddConsumePartitions(at)
}

// poll returns records from where reading is, at most so many; it waits until
// there are some.
func (q *partition) poll(ctx context.Context, most int) ([]*kgo.Record, error) {
	fetched := q.client.PollRecords(ctx, most)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, e := range fetched.Errors() {
		return nil, fmt.Errorf("read %s/%d: %w", e.Topic, e.Partition, e.Err)
	}
	return fetched.Records(), nil
}

// at returns the first record from an offset on; there must be one.
func (q *partition) at(ctx context.Context, offset int64) (record, error) {
	q.read(offset)
	for {
		records, err := q.poll(ctx, 1)
		if err != nil {
			return record{}, err
		}
		if len(records) > 0 {
			return recordOf(q.o, records[0])
		}
	}
}

// search returns the first offset of a record that stands at or behind a
// sequence of a generation, the end where none does.
func (q *partition) search(ctx context.Context, generation, sequence uint64) (int64, error) {
	var failed error
	n := sort.Search(int(q.end-q.start), func(i int) bool {
		if failed != nil {
			return true
		}
		r, err := q.at(ctx, q.start+int64(i))
		failed = err
		return r.generation > generation || r.generation == generation && r.cursor.Sequence >= sequence
	})
	return q.start + int64(n), failed
}

// find returns the offset from which to read to go on from a cursor; ahead says
// that there is nothing of it yet. Whether it fits the records there tell.
func (q *partition) find(ctx context.Context, c bus.Cursor) (offset int64, ahead bool, err error) {
	if q.start == q.end {
		return q.end, true, nil
	}
	newest, err := q.at(ctx, q.end-1)
	if err != nil {
		return 0, false, err
	}
	offset, err = q.search(ctx, newest.generation, c.Sequence)
	return offset, offset == q.end, err
}
