package codec

import (
	"encoding/json"
	"fmt"

	"github.com/motorpool/fleet"
)

// decodeDeadLetter reads what Append wrote. A message that is none is ErrUndecodable.
func decodeDeadLetter(value []byte) (DeadLetter, error) {
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
