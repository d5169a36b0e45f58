package main

import (
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// poison puts a record batch onto each partition of the topic of positions that says it is gzip and is not. Apache
// Kafka looks into what it takes; the embedded broker does not, and neither do others.
func (m *machine) poison(partitions int) {
	m.t.Helper()
	batch := append(make([]byte, 61), "this is no gzip"...)
	binary.BigEndian.PutUint32(batch[8:], uint32(len(batch)-12))
	batch[16], batch[22] = 2, 1               // format, compression
	binary.BigEndian.PutUint32(batch[23:], 2) // last offset
	for i := 43; i < 57; i++ {                // no producer id
		batch[i] = 0xff
	}
	binary.BigEndian.PutUint32(batch[57:], 3) // records
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
	var broker string
	for _, v := range m.env {
		if addr, ok := strings.CutPrefix(v, "MOTORPOOL_KAFKA="); ok {
			broker = addr
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.MaxVersions(kversion.V2_4_0())) // topics have names
	if err != nil {
		m.t.Fatal(err)
	}
	defer client.Close()
	for partition := range partitions {
		request := kmsg.NewPtrProduceRequest()
		request.Acks, request.TimeoutMillis = -1, 5000
		request.Topics = []kmsg.ProduceRequestTopic{{Topic: "positions", Partitions: []kmsg.ProduceRequestTopicPartition{{
			Partition: int32(partition), Records: batch,
		}}}}
		res, err := request.RequestWith(m.t.Context(), client)
		if err == nil {
			err = kerr.ErrorForCode(res.Topics[0].Partitions[0].ErrorCode)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}
