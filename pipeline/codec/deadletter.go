package codec

import (
	"encoding/base64"
	"strconv"

	"github.com/motorpool/fleet"
)

// maxDeadLetterPayload is how much of a refused record a dead letter holds.
const maxDeadLetterPayload = 64 << 10

// DeadLetter tells of one record, or one report of a record with several, that could not become data. It is a message
// of the dead_letters topic, whose form is schemas/topics/dead_letter.schema.json.
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
	Payload      []byte // the record's value, of which at most maxDeadLetterPayload bytes are written
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
	payload := l.Payload[:min(len(l.Payload), maxDeadLetterPayload)]
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"payload_base64":"`...), payload)
	dst = strconv.AppendInt(append(dst, `","payload_bytes":`...), int64(l.PayloadBytes), 10)
	return append(dst, '}')
}
