package consume

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

const (
	minFetchVersion = 4 // the first with record batches of format 2
	maxFetchVersion = 11
	maxResponse     = 1 << 30
	maxBatch        = 128 << 20 // a record batch that says that it is longer lies
)

// exchange is a fetch request for one partition and the bytes of its response. kafka-go finds the partition's leader,
// connects, authenticates and writes the request; the response is left as bytes for recordSet. It is a
// protocol.RawExchanger, kafka-go's own way of doing that.
type exchange struct {
	request fetch.Request
	version int16
	body    []byte // The bytes of the response, after its size.
}

func newExchange(topic string, partition int, offset int64, minBytes, maxBytes int, wait time.Duration,
	memory []byte) *exchange {
	return &exchange{
		body: memory,
		request: fetch.Request{
			ReplicaID:   -1,
			MaxWaitTime: int32(max(wait.Milliseconds(), 1)),
			MinBytes:    int32(minBytes),
			MaxBytes:    int32(maxBytes),
			// Session 0 with epoch -1 is a fetch without a session (KIP-227).
			SessionID:    0,
			SessionEpoch: -1,
			Topics: []fetch.RequestTopic{{
				Topic: topic,
				Partitions: []fetch.RequestPartition{{
					Partition:          int32(partition),
					CurrentLeaderEpoch: -1,
					FetchOffset:        offset,
					LogStartOffset:     -1,
					PartitionMaxBytes:  int32(maxBytes),
				}},
			}},
		},
	}
}

// ApiKey makes exchange a protocol.Message.
func (e *exchange) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker makes it go to the partition's leader.
func (e *exchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	return e.request.Broker(cluster)
}

// Required takes the version that was negotiated for the connection.
func (e *exchange) Required(versions map[protocol.ApiKey]int16) bool {
	e.version = min(versions[protocol.Fetch], maxFetchVersion)
	return true
}

// RawExchange writes the request and reads the response. A connection carries one exchange at a time.
func (e *exchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if e.version < minFetchVersion {
		return nil, fmt.Errorf("broker speaks fetch version %d at most, %d is needed", e.version, minFetchVersion)
	}
	const correlation = 1
	if err := protocol.WriteRequest(rw, e.version, correlation, "motorpool", &e.request); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := int64(int32(binary.BigEndian.Uint32(head[:]))) - 4
	if size < 0 || size > maxResponse {
		return nil, fmt.Errorf("impossible fetch response of %d bytes", size)
	}
	if id := binary.BigEndian.Uint32(head[4:]); id != correlation {
		return nil, fmt.Errorf("fetch response with correlation id %d", id)
	}
	if int64(cap(e.body)) < size {
		e.body = make([]byte, size)
	}
	e.body = e.body[:size]
	if _, err := io.ReadFull(rw, e.body); err != nil {
		return nil, err
	}
	return e, nil
}

// fetched is what a fetch response says about its partition.
type fetched struct {
	highWater int64
	records   []byte // The record batches, of which the last may be cut off.
}

var errBadResponse = errors.New("fetch response has an unknown layout")

// parse reads the response. An error of the broker is a kafka.Error.
func (e *exchange) parse() (fetched, error) {
	c := cursor{p: e.body}
	c.skip(4) // throttle time
	if e.version >= 7 {
		if code := c.int16(); code != 0 {
			return fetched{}, kafka.Error(code)
		}
		c.skip(4) // session
	}
	if c.int32() != 1 { // topics
		return fetched{}, errBadResponse
	}
	c.skip(int(c.int16())) // name
	if c.int32() != 1 {    // partitions
		return fetched{}, errBadResponse
	}
	c.skip(4) // index
	code := c.int16()
	res := fetched{highWater: c.int64()}
	c.skip(8) // last stable offset
	if e.version >= 5 {
		c.skip(8) // log start offset
	}
	if aborted := c.int32(); aborted > 0 {
		c.skip(int(aborted) * 16)
	}
	if e.version >= 11 {
		c.skip(4) // preferred read replica
	}
	size := c.int32()
	if c.bad || int(size) > len(c.p) {
		return fetched{}, errBadResponse
	}
	if code != 0 {
		return res, kafka.Error(code)
	}
	if size > 0 {
		res.records = c.p[:size]
	}
	return res, nil
}

// cursor reads big-endian numbers; reading past the end gives zeros and sets bad.
type cursor struct {
	p   []byte
	bad bool
}

func (c *cursor) skip(n int) []byte {
	if n < 0 || n > len(c.p) {
		c.bad = true
		c.p = nil
		return nil
	}
	skipped := c.p[:n]
	c.p = c.p[n:]
	return skipped
}

func (c *cursor) int16() int16 {
	if p := c.skip(2); p != nil {
		return int16(binary.BigEndian.Uint16(p))
	}
	return 0
}

func (c *cursor) int32() int32 {
	if p := c.skip(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (c *cursor) int64() int64 {
	if p := c.skip(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

// roundTrip sends the exchange. After an error its memory must not be used again: an exchange that was given up may
// still be reading.
func roundTrip(ctx context.Context, client *kafka.Client, e *exchange) (fetched, error) {
	transport := client.Transport
	if transport == nil {
		transport = kafka.DefaultTransport
	}
	if _, err := transport.RoundTrip(ctx, client.Addr, e); err != nil {
		return fetched{}, err
	}
	return e.parse()
}
