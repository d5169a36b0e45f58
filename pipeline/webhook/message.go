package webhook

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
)

// message is a record of the topic of deliveries: an event for an endpoint, or a command about its deliveries.
type message struct {
	Account  fleet.AccountID `json:"account,string"`
	Endpoint uint64          `json:"endpoint,string"`
	Sequence uint64          `json:"sequence,string,omitempty"` // of the event
	Noted    fleet.Millis    `json:"noted_ms,omitempty"`        // when the event was put on its topic
	Command  *command        `json:"command,omitempty"`
	Event    json.RawMessage `json:"event,omitempty"` // as on its topic
}

// command asks for deliveries once more.
type command struct {
	Again    bool         `json:"again,omitempty"`           // those there are, else those that a replay makes
	Delivery uint64       `json:"delivery,string,omitempty"` // this one alone
	ID       uint64       `json:"id,string,omitempty"`       // in the table of what was asked for
	Replay   uint64       `json:"replay,string,omitempty"`   // what the caller calls the replay
	Asked    fleet.Millis `json:"asked_ms"`
	Since    fleet.Millis `json:"since_ms"`
	Until    fleet.Millis `json:"until_ms"`
	Types    []string     `json:"types,omitempty"`
	Statuses []string     `json:"statuses,omitempty"`
	After    uint64       `json:"after,string,omitempty"` // of a replay: the sequence that it has come to
}

// messageKey keeps an endpoint on one partition, and so with one owner.
func messageKey(endpoint uint64) []byte { return strconv.AppendUint(nil, endpoint, 10) }

// appendMessage writes a message that carries an event.
func appendMessage(dst []byte, endpoint, sequence uint64, noted fleet.Millis, e *fleet.Event) []byte {
	dst = append(strconv.AppendUint(append(dst, `{"account":"`...), uint64(e.Account), 10), '"')
	dst = append(strconv.AppendUint(append(dst, `,"endpoint":"`...), endpoint, 10), '"')
	dst = append(strconv.AppendUint(append(dst, `,"sequence":"`...), sequence, 10), '"')
	dst = strconv.AppendInt(append(dst, `,"noted_ms":`...), int64(noted), 10)
	return append(codec.AppendEvent(append(dst, `,"event":`...), e), '}')
}

// parseMessage reads a message, and the event that it carries, whose body is part of text.
func parseMessage(text []byte) (message, fleet.Event, error) {
	var m message
	var e fleet.Event
	err := json.Unmarshal(text, &m)
	if err == nil && m.Command == nil {
		e, err = codec.ParseEvent(m.Event)
	}
	switch {
	case err != nil:
		return m, e, err
	case m.Account == 0 || m.Endpoint == 0:
		return m, e, errors.New("it is for nobody")
	case m.Command == nil && (m.Sequence == 0 || e.ID == 0 || e.Account != m.Account || m.Noted <= 0):
		return m, e, errors.New("it carries neither an event of the account nor a command")
	}
	return m, e, nil
}

// deliveryID names a delivery by its content: the event, the endpoint and the replay that asked for it, if any did.
func deliveryID(k key, sequence, event, replay uint64) uint64 {
	hash := fnv.New64a()
	var b [40]byte
	for i, n := range []uint64{uint64(k.account), k.endpoint, sequence, event, replay} {
		binary.BigEndian.PutUint64(b[8*i:], n)
	}
	hash.Write([]byte("delivery"))
	hash.Write(b[:])
	return max(hash.Sum64()>>1, 1)
}
