package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Limits of an Arrow stream.
const (
	maxColumns  = 512
	maxMetadata = 64 // key and value pairs of a schema or a column
)

// frames hands the messages of an Arrow IPC stream to Arrow's reader, straight from the record and without copying.
//
// The reader trusts what messages say of themselves: a few bytes can make it allocate gigabytes, or recurse until the
// process dies, which no recover catches. So each message's metadata is checked first, against the layout of
// Message.fbs and Schema.fbs of the Arrow format 1.x, and only what telemetry needs gets through: flat columns without
// body compression, in little-endian order, with dictionaries that are sent whole.
type frames struct {
	rest []byte
}

// Message returns the next message, and io.EOF at the end of the stream. A stream may end without its end marker.
func (f *frames) Message() (*ipc.Message, error) {
	if len(f.rest) == 0 {
		return nil, io.EOF
	}
	if len(f.rest) < 8 || binary.LittleEndian.Uint32(f.rest) != 0xFFFFFFFF {
		return nil, errors.New("arrow: not a message of an IPC stream")
	}
	size := binary.LittleEndian.Uint32(f.rest[4:])
	f.rest = f.rest[8:]
	if size == 0 {
		if len(f.rest) > 0 {
			return nil, errors.New("arrow: something follows the end of the stream")
		}
		return nil, io.EOF
	}
	if uint64(size) > uint64(len(f.rest)) {
		return nil, errors.New("arrow: the stream ends within a message")
	}
	metadata := f.rest[:size:size]
	f.rest = f.rest[size:]
	length, err := checkMessage(metadata, int64(len(f.rest)))
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	body := f.rest[:length:length]
	f.rest = f.rest[length:]
	return ipc.NewMessage(memory.NewBufferBytes(metadata), memory.NewBufferBytes(body)), nil
}

// Retain does nothing: the memory is the record's.
func (f *frames) Retain() {}

// Release does nothing: the memory is the record's.
func (f *frames) Release() {}

// Values of the union MessageHeader.
const (
	headerSchema          = 1
	headerDictionaryBatch = 2
	headerRecordBatch     = 3
)

// checkMessage checks the metadata of a message and returns the length of its body, of which at most available is
// there. A table that reaches outside of the metadata makes it panic with an index out of range.
func checkMessage(metadata []byte, available int64) (int64, error) {
	message := flatbuffers.Table{Bytes: metadata, Pos: flatbuffers.GetUOffsetT(metadata)}
	length := message.GetInt64Slot(10, 0)
	if length < 0 || length > available {
		return 0, errors.New("the stream ends within the body of a message")
	}
	header, ok := child(&message, 8)
	if !ok {
		return 0, errors.New("a message has no header")
	}
	switch kind := message.GetByteSlot(6, 0); kind {
	case headerSchema:
		return length, checkSchema(&header)
	case headerDictionaryBatch:
		values, ok := child(&header, 6)
		if !ok {
			return 0, errors.New("a dictionary has no values")
		}
		if header.GetBoolSlot(8, false) {
			return 0, errors.New("delta dictionaries are not read: send each dictionary whole")
		}
		return length, checkBatch(&values, length)
	case headerRecordBatch:
		return length, checkBatch(&header, length)
	default:
		return 0, fmt.Errorf("a message is of the unknown kind %d", kind)
	}
}

// child returns the table that a field of a table refers to.
func child(t *flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return flatbuffers.Table{}, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + at)}, true
}

// vector returns the position and the number of elements of a vector in a table.
func vector(t *flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.UOffsetT, int) {
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return 0, 0
	}
	return t.Vector(at), t.VectorLen(at)
}

// flatTypes are the column types that get through, by their number in the union Type: those whose layout is at most a
// validity bitmap, offsets and values.
var flatTypes = map[byte]bool{
	1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, // Null to Timestamp
	11: true, 15: true, 18: true, 19: true, 20: true, // Interval, FixedSizeBinary, Duration, LargeBinary, LargeUtf8
}

// checkSchema allows a flat schema whose texts are no longer than the metadata they stand in.
func checkSchema(schema *flatbuffers.Table) error {
	if schema.GetInt16Slot(4, 0) != 0 {
		return errors.New("big-endian streams are not read")
	}
	texts := textBudget(len(schema.Bytes))
	if err := texts.pairs(schema, 8); err != nil {
		return err
	}
	at, columns := vector(schema, 6)
	if columns > maxColumns {
		return fmt.Errorf("the schema has %d columns, at most %d are read", columns, maxColumns)
	}
	for i := range columns {
		field := flatbuffers.Table{Bytes: schema.Bytes, Pos: schema.Indirect(at + flatbuffers.UOffsetT(i)*4)}
		_, children := vector(&field, 14)
		kind := field.GetByteSlot(8, 0)
		if children != 0 || !flatTypes[kind] {
			return fmt.Errorf("column %d is nested or of a type that is not read (%d)", i, kind)
		}
		if err := texts.pairs(&field, 16); err != nil {
			return err
		}
		if err := texts.take(&field, 4); err != nil {
			return err
		}
		if timestamp, ok := child(&field, 10); ok && kind == 10 {
			if err := texts.take(&timestamp, 6); err != nil {
				return err
			}
		}
	}
	return nil
}

// textBudget is how many bytes of text a schema may still have. Honest texts do not overlap; those of a bomb do.
type textBudget int

// take counts the text in a field of a table.
func (b *textBudget) take(t *flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	_, length := vector(t, slot)
	if *b -= textBudget(length); length < 0 || *b < 0 {
		return errors.New("the texts of the schema are longer than the schema")
	}
	return nil
}

// pairs counts the texts of the custom metadata of a table.
func (b *textBudget) pairs(t *flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	at, n := vector(t, slot)
	if n > maxMetadata {
		return fmt.Errorf("the schema has %d pairs of metadata in one place, at most %d are read", n, maxMetadata)
	}
	for i := range n {
		pair := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + flatbuffers.UOffsetT(i)*4)}
		if err := b.take(&pair, 4); err != nil {
			return err
		}
		if err := b.take(&pair, 6); err != nil {
			return err
		}
	}
	return nil
}

// checkBatch allows a batch of at most MaxReports rows, all columns as long as it says, whose buffers lie in the body
// and are together no longer than it.
func checkBatch(batch *flatbuffers.Table, body int64) error {
	if batch.Offset(10) != 0 {
		return errors.New("compressed bodies are not read: let Kafka compress the record")
	}
	rows := batch.GetInt64Slot(4, 0)
	if rows < 0 || rows > MaxReports {
		return fmt.Errorf("a batch of %d rows, at most %d are read", rows, MaxReports)
	}
	at, n := vector(batch, 6)
	if n > maxColumns {
		return errors.New("a batch has more columns than a schema may have")
	}
	for i := range n {
		if batch.GetInt64(at+flatbuffers.UOffsetT(i)*16) != rows {
			return errors.New("the columns of a batch differ in length")
		}
	}
	at, n = vector(batch, 8)
	if n > 3*maxColumns {
		return errors.New("a batch has more buffers than its columns can have")
	}
	var sum int64
	for i := range n {
		place := at + flatbuffers.UOffsetT(i)*16
		offset, length := batch.GetInt64(place), batch.GetInt64(place+8)
		if offset < 0 || length < 0 || offset > body || length > body-offset {
			return errors.New("a buffer lies outside of its message")
		}
		if sum += length; sum > body {
			return errors.New("the buffers of a message overlap")
		}
	}
	return nil
}

// slab gives Arrow's reader memory that is used again for the next record. Nothing of it outlives a Decode. checkBatch
// keeps the sum of what is asked for near the length of the record.
type slab struct {
	memory []byte
	used   int
	wanted int
}

// reset takes all memory back, and makes room for what the last record needed.
func (s *slab) reset() {
	if s.wanted > len(s.memory) {
		s.memory = make([]byte, s.wanted)
	}
	s.used, s.wanted = 0, 0
}

// Allocate returns memory whose contents are undefined.
func (s *slab) Allocate(size int) []byte {
	step := (size + 63) &^ 63 // buffers begin at multiples of 64, as Arrow likes them
	s.wanted += step
	if s.used+step > len(s.memory) {
		return make([]byte, size)
	}
	piece := s.memory[s.used : s.used+size : s.used+size]
	s.used += step
	return piece
}

// Reallocate returns a larger or smaller piece with the same contents.
func (s *slab) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	piece := s.Allocate(size)
	copy(piece, b)
	return piece
}

// Free does nothing: reset takes everything back.
func (s *slab) Free([]byte) {}
