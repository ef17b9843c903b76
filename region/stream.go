package region

import (
	"context"
	"fmt"
	"time"

	"headwater/region/bus"
)

// openStream finds the place where the change stream goes on.
func (n *Node) openStream() (err error) {
	keeper, ok := n.store.(bus.Keeper)
	if !ok {
		return nil
	}
	n.keeper = keeper
	if n.cursor, err = bus.Newest(context.Background(), keeper); err != nil || n.cursor.Sequence > 0 {
		return err
	}
	// The log keeps the epoch until the graph has an entry that a crash can't
	// take away.
	epoch, err := n.log.Kept(keptEpoch)
	if err == nil && epoch == nil {
		epoch = []byte(bus.NewEpoch())
		err = n.log.Keep(keptEpoch, epoch)
	}
	if err != nil {
		return err
	}
	n.cursor.Epoch = string(epoch)
	if n.applied.Revision > 0 {
		// What the graph holds from before there was a stream stands for its
		// first entry, which is not kept: who comes new takes a snapshot.
		n.cursor.Sequence = 1
	}
	return nil
}

const keptEpoch = "epoch"

// Head returns how far the region has come, and a channel that closes when it
// goes on.
func (n *Node) Head() (bus.Head, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return bus.Head{Cursor: n.cursor, Mark: n.applied, Known: n.known}, n.moved
}

// trimAtOnce is how many entries trimStream looks at.
const trimAtOnce = 50_000

// trimStream forgets entries of the change stream that are more or older than
// is to be kept. The newest stays, to go on from.
func (n *Node) trimStream(now time.Time) error {
	if n.keeper == nil {
		return nil
	}
	ctx := context.Background()
	first, last, err := n.keeper.StreamBounds(ctx)
	if err != nil || first == last {
		return err
	}
	through := first - 1
	if most := n.o.StreamEntries; most > 0 && last-through > uint64(most) {
		through = last - uint64(most)
	}
	if n.o.StreamAge > 0 {
		oldest := now.Add(-n.o.StreamAge).UnixNano()
		for kept, err := range n.keeper.Stream(ctx, through+1) {
			if err != nil {
				return err
			}
			e, err := bus.DecodeEntry(kept.Value)
			if err != nil {
				return fmt.Errorf("entry %d of the change stream: %w", kept.Sequence, err)
			}
			if e.At >= oldest || kept.Sequence == last || kept.Sequence-first > trimAtOnce {
				break
			}
			through = kept.Sequence
		}
	}
	if through < first {
		return nil
	}
	return n.keeper.TrimStream(ctx, through)
}
