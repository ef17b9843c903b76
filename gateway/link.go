package gateway

import (
	"context"
	"errors"
	"net/http"

	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/region/bus"
	"headwater/region/bus/embedded"
	"headwater/region/bus/kafka"
	"headwater/region/rpc"
)

// A Link is what connects a gateway to one region.
type Link struct {
	Reader graph.Reader
	Stream bus.Stream
	// Status asks the region how it is.
	Status func(ctx context.Context) (rpc.Status, error)
	Close  func() error
}

// dial connects to a region over the network.
func (o *Options) dial(r catalog.Region) (Link, error) {
	c, err := rpc.NewClient(rpc.ClientOptions{Region: r.Name, Addresses: r.Addresses, TLS: o.TLS, Token: o.Token, Log: o.Log})
	if err != nil {
		return Link{}, err
	}
	scheme := "http://"
	if o.TLS != nil {
		scheme = "https://"
	}
	streams := make([]bus.Stream, len(r.Addresses))
	for i, a := range r.Addresses {
		streams[i] = &embedded.Client{URL: scheme + a, HTTP: &http.Client{Transport: bearer{o.HTTP.Transport, o.Token}}}
	}
	link := Link{Reader: c, Stream: anyOf(streams), Status: c.Status, Close: c.Close}
	if len(o.Brokers) > 0 {
		link.Stream = &kafka.Stream{Options: KafkaOptions(o.Brokers, o.Topic, r.Name), From: link.Stream}
	}
	return link, nil
}

// DefaultTopic is what the topics of streams of changes begin with.
const DefaultTopic = "headwater.changes"

// KafkaOptions say where the stream of a region is in Kafka: in a topic of its
// own.
func KafkaOptions(brokers []string, topic, region string) kafka.Options {
	return kafka.Options{Brokers: brokers, Topic: topic + "." + region, Region: region}
}

// anyOf is a stream that several addresses serve: the next is asked where one
// fails.
type anyOf []bus.Stream

func (s anyOf) Follow(ctx context.Context, c bus.Cursor, f bus.Filter, emit func([]bus.Entry) error) error {
	return s.try(ctx, func(one bus.Stream) error { return one.Follow(ctx, c, f, emit) })
}

func (s anyOf) Snapshot(ctx context.Context, f bus.Filter, emit func([]graph.Name) error) (at bus.Cursor, err error) {
	err = s.try(ctx, func(one bus.Stream) error {
		at, err = one.Snapshot(ctx, f, emit)
		return err
	})
	return at, err
}

func (s anyOf) try(ctx context.Context, f func(bus.Stream) error) error {
	var errs []error
	for _, one := range s {
		err := f(one)
		if err == nil || ctx.Err() != nil || errors.Is(err, bus.ErrExpired) || errors.Is(err, bus.ErrDiverged) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// bearer shows a token with each request.
type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	next := b.next
	if next == nil {
		next = http.DefaultTransport
	}
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return next.RoundTrip(r)
}
