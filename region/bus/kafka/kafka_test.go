package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"headwater/graph/graphtest"
	"headwater/region/bus"
	"headwater/region/bus/bustest"
	"headwater/region/bus/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A broker is Kafka, or what stands in for it.
type broker struct {
	addresses []string
	topics    atomic.Int64
}

// open connects to the brokers of HEADWATER_KAFKA (host:port, by commas), or
// starts one that is not real.
func open(t testing.TB) *broker {
	if real := os.Getenv("HEADWATER_KAFKA"); real != "" {
		return &broker{addresses: strings.Split(real, ",")}
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &broker{addresses: c.ListenAddrs()}
}

// topic makes a topic of two partitions and returns the second.
func (b *broker) topic(t testing.TB) Options {
	t.Helper()
	o := Options{Brokers: b.addresses, Topic: fmt.Sprintf("headwater-test-%d-%d", time.Now().UnixNano(), b.topics.Add(1)), Partition: 1, Region: "eu"}
	b.admin(t, func(ctx context.Context, admin *kadm.Client) error {
		_, err := admin.CreateTopic(ctx, 2, 1, nil, o.Topic)
		return err
	})
	t.Cleanup(func() {
		b.admin(t, func(ctx context.Context, admin *kadm.Client) error {
			_, err := admin.DeleteTopic(ctx, o.Topic)
			return err
		})
	})
	return o
}

func (b *broker) admin(t testing.TB, do func(context.Context, *kadm.Client) error) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addresses...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := do(ctx, kadm.NewClient(client)); err != nil {
		t.Fatal(err)
	}
}

// A publishing is a publisher that runs for the life of a region.
type publishing struct {
	o    Options
	stop context.CancelFunc
	done chan error
}

func publish(r *bustest.Region, o Options) *publishing {
	p := &publishing{o: o, done: make(chan error, 1)}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(r.Life())
	from := embedded.New(embedded.Options{Store: r.Store(), Head: r.Head})
	go func() { p.done <- (&Publisher{Options: o, From: from}).Run(ctx) }()
	return p
}

// end stops it and waits for it.
func (p *publishing) end(t testing.TB) {
	t.Helper()
	p.stop()
	if err := <-p.done; !errors.Is(err, context.Canceled) {
		t.Errorf("publishing ended with %v", err)
	}
}

func (p *publishing) stream(r *bustest.Region) bus.Stream {
	return &Stream{Options: p.o, From: embedded.New(embedded.Options{Store: r.Store(), Head: r.Head})}
}

func TestStream(t *testing.T) {
	b := open(t)
	published := map[*bustest.Region]*publishing{}
	bustest.Run(t, bustest.Harness{
		Histories: 10,
		Store:     func(testing.TB) bustest.Store { return graphtest.NewModel("eu") },
		Serve: func(t testing.TB, r *bustest.Region) bus.Stream {
			p := published[r]
			if p == nil {
				p = &publishing{o: b.topic(t)}
				t.Cleanup(func() { published[r].end(t) })
			} else {
				p.end(t)
			}
			p = publish(r, p.o)
			published[r] = p
			return p.stream(r)
		},
	})
}
