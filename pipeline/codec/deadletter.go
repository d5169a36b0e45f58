package codec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/motorpool/fleet"
)

// MaxDeadLetterPayload is how much of a refused record a dead letter holds.
const MaxDeadLetterPayload = 64 << 10

// DeadLetter tells of one record, or one report of a record with several, that could not become data. It is a message of
// the dead_letters topic, whose form is schemas/topics/dead_letter.schema.json.
type DeadLetter struct {
	ID           uint64       // made from the source, so that a replay makes the same one
	At           fleet.Millis // received time of the record
	Reason       fleet.Refusal
	Detail       string // for people: what exactly is wrong
	Device       string // unique id, if the record could be read so far
	Topic        string // source of the record, with Partition and Offset
	Partition    int
	Offset       int64
	Index        int // of the report in its record
	Format       Format
	Payload      []byte // the record's value, of which at most MaxDeadLetterPayload bytes are written
	PayloadBytes int    // length of the whole value
}

// Append appends the message to dst.
func (l DeadLetter) Append(dst []byte) []byte {
	dst = strconv.AppendUint(append(dst, `{"id":"`...), l.ID, 10)
	dst = appendClock(append(dst, `","at":`...), l.At)
	dst = appendText(append(dst, `,"reason":`...), string(l.Reason))
	dst = appendText(append(dst, `,"detail":`...), l.Detail)
	dst = appendText(append(dst, `,"device":`...), l.Device)
	dst = appendText(append(dst, `,"topic":`...), l.Topic)
	dst = strconv.AppendInt(append(dst, `,"partition":`...), int64(l.Partition), 10)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), l.Offset, 10)
	dst = strconv.AppendInt(append(dst, `,"index":`...), int64(l.Index), 10)
	dst = appendText(append(dst, `,"format":`...), string(l.Format))
	payload := l.Payload[:min(len(l.Payload), MaxDeadLetterPayload)]
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"payload_base64":"`...), payload)
	dst = strconv.AppendInt(append(dst, `","payload_bytes":`...), int64(l.PayloadBytes), 10)
	return append(dst, '}')
}

// DecodeDeadLetter reads what Append wrote. A message that is none is ErrUndecodable.
func DecodeDeadLetter(value []byte) (DeadLetter, error) {
	var m struct {
		ID        uint64          `json:"id,string"`
		At        json.RawMessage `json:"at"`
		Reason    fleet.Refusal   `json:"reason"`
		Detail    string          `json:"detail"`
		Device    string          `json:"device"`
		Topic     string          `json:"topic"`
		Partition int             `json:"partition"`
		Offset    int64           `json:"offset"`
		Index     int             `json:"index"`
		Format    Format          `json:"format"`
		Payload   []byte          `json:"payload_base64"`
		Bytes     int             `json:"payload_bytes"`
	}
	if err := json.Unmarshal(value, &m); err != nil {
		return DeadLetter{}, fmt.Errorf("%w: dead letter: %w", ErrUndecodable, err)
	}
	if m.Reason == "" || m.Topic == "" {
		return DeadLetter{}, fmt.Errorf("%w: dead letter without reason or topic", ErrUndecodable)
	}
	var s scanner
	s.start(m.At)
	at := s.clock()
	return DeadLetter{
		ID: m.ID, At: at, Reason: m.Reason, Detail: m.Detail, Device: m.Device,
		Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, Index: m.Index,
		Format: m.Format, Payload: m.Payload, PayloadBytes: m.Bytes,
	}, nil
}
