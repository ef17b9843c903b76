// Package kafka carries a region's change stream over a Kafka topic.
//
//	options.go    which topic and partition
//	record.go     what a record holds; large entries in chunks
//	publisher.go  from the region's own stream into the topic
//	stream.go     a bus.Stream that reads the topic
//	place.go      what a follower makes of each record
//	partition.go  records by offset, and the offset of a cursor
//
// A partition is one region's. Its records stand in generations: a publisher
// goes on behind the last entry that it finds in the topic, in the same
// generation; where the region's stream does not follow that any more it
// begins another one. Within a generation sequences grow with offsets, so that
// a cursor is found by halving.
package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Options say where a region's stream is. All but Client are needed.
type Options struct {
	Brokers []string
	// Topic has a partition for each region, and keeps what is older than its
	// retention no longer: it is not compacted.
	Topic     string
	Partition int32
	Region    string
	// Client are options for the connections: TLS, SASL, a logger.
	Client []kgo.Opt
}

// Validate says what is missing.
func (o *Options) Validate() error {
	if len(o.Brokers) == 0 || o.Topic == "" || o.Region == "" || o.Partition < 0 {
		return errors.New("kafka: Brokers, Topic, Partition and Region are needed")
	}
	return nil
}

// client connects, with more options than those for all.
func (o *Options) client(more ...kgo.Opt) (*kgo.Client, error) {
	opts := append([]kgo.Opt{kgo.SeedBrokers(o.Brokers...)}, o.Client...)
	return kgo.NewClient(append(opts, more...)...)
}
