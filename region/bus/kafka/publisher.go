package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"headwater/region/bus"
)

// A Publisher carries a region's stream into its partition. There is to be one
// of a region; where there are two for a while followers get entries twice.
type Publisher struct {
	Options
	// From is the stream, unfiltered and at hand: embedded.Stream. Each beat
	// of it becomes a record: its Options.Beat should be longer for Kafka.
	From bus.Stream
}

// Run publishes until ctx ends or something is in the way, and returns what.
// Whoever runs it runs it again: it goes on behind what the topic has.
func (p *Publisher) Run(ctx context.Context) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if err := p.run(ctx); err != nil {
		return fmt.Errorf("publish the changes of %q to %s/%d: %w", p.Region, p.Topic, p.Partition, err)
	}
	return nil
}

func (p *Publisher) run(ctx context.Context) error {
	tail, err := p.tail(ctx)
	if err != nil {
		return err
	}
	client, err := p.client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer client.Close()
	send := func(records []record) error {
		batch := make([]*kgo.Record, len(records))
		for i := range records {
			batch[i] = &kgo.Record{Topic: p.Topic, Partition: p.Partition, Key: []byte(p.Region), Value: records[i].bytes()}
		}
		return client.ProduceSync(ctx, batch...).FirstErr()
	}
	begin := func(c bus.Cursor, why byte) error {
		tail = end{generation: tail.generation + 1, cursor: c}
		return send([]record{{kind: beginRecord, generation: tail.generation, cursor: c, parts: 1, payload: []byte{why}}})
	}
	if tail.empty {
		if err := begin(bus.Cursor{}, expired); err != nil {
			return err
		}
	}
	for {
		err := p.From.Follow(ctx, tail.cursor, bus.Filter{All: true}, func(entries []bus.Entry) error {
			var records []record
			for i := range entries {
				e := &entries[i]
				if v := bus.Check(tail.cursor, e, false); v == bus.Gap || v == bus.Diverged {
					return fmt.Errorf("behind %s came %s: %s", tail.cursor, e.Cursor(), v)
				} else if v == bus.Duplicate {
					continue
				}
				records = append(records, split(tail.generation, e, tail.cursor.Hash)...)
				if !e.Beat {
					tail.cursor = e.Cursor()
				}
			}
			return send(records)
		})
		why := byte(expired)
		switch {
		case errors.Is(err, bus.ErrDiverged):
			why = diverged
		case !errors.Is(err, bus.ErrExpired):
			return err
		}
		now, err := p.From.Snapshot(ctx, bus.Filter{}, nil)
		if err != nil {
			return err
		}
		if err := begin(now, why); err != nil {
			return err
		}
	}
}

// An end is where a topic ends: behind the last whole entry of its newest
// generation.
type end struct {
	generation uint64
	cursor     bus.Cursor
	// empty: it holds nothing, or nothing any more.
	empty bool
}

// tailRecords is how many records at the end of a topic are looked at: the last
// may be of a publisher that was replaced.
const tailRecords = 20

func (p *Publisher) tail(ctx context.Context) (end, error) {
	q, err := openPartition(ctx, &p.Options)
	if err != nil {
		return end{}, err
	}
	defer q.close()
	if q.start == q.end {
		// Each generation has had a record: there were not more than these.
		return end{generation: uint64(q.end), empty: true}, nil
	}
	at := max(q.start, q.end-tailRecords)
	q.read(at)
	var last record
	for at < q.end {
		records, err := q.poll(ctx, tailRecords)
		if err != nil {
			return end{}, err
		}
		for _, k := range records {
			r, err := recordOf(&p.Options, k)
			if err != nil {
				return end{}, err
			}
			if r.generation >= last.generation {
				last = r
			}
			at = k.Offset + 1
		}
	}
	if last.kind == entryRecord && last.part+1 < last.parts {
		// It was not published whole: it is published again.
		return end{generation: last.generation, cursor: bus.Cursor{Epoch: last.cursor.Epoch, Sequence: last.cursor.Sequence - 1, Hash: last.before}}, nil
	}
	return end{generation: last.generation, cursor: last.cursor}, nil
}
