package consume

// buffer is a batch and the memory that its records live in. It belongs to the fetching goroutine while it is filled,
// to the handling goroutine once it was sent to it, and to the fetching goroutine again when it came back.
type buffer struct {
	Batch
	bytes     int   // The bytes of keys and values.
	highWater int64 // The log's end when the batch was closed.
	planned   bool  // The range had been planned before.

	chunks [][]byte // Memory in chunks of chunkSize; each is filled from its start.
	chunk  int      // The index of the chunk that is being filled.
	used   int      // How many bytes of that chunk are in use.
}

const chunkSize = 256 << 10

func newBuffer(topic string, partition int) *buffer {
	return &buffer{Batch: Batch{Topic: topic, Partition: partition}}
}

// keep copies p into the buffer's memory; nil stays nil.
func (b *buffer) keep(p []byte) []byte {
	if p == nil {
		return nil
	}
	if len(p) > chunkSize/4 {
		// Large values get memory of their own, which is not kept for the next batch.
		return append(make([]byte, 0, len(p)), p...)
	}
	if b.chunk == len(b.chunks) || b.used+len(p) > chunkSize {
		if b.chunk < len(b.chunks) {
			b.chunk++
		}
		if b.chunk == len(b.chunks) {
			b.chunks = append(b.chunks, make([]byte, chunkSize))
		}
		b.used = 0
	}
	copied := b.chunks[b.chunk][b.used : b.used+len(p) : b.used+len(p)]
	b.used += len(p)
	copy(copied, p)
	return copied
}

// reset empties the buffer. It keeps as much memory as the batch that it held needed: after a backlog has been worked
// off, a partition goes back to a few records' worth.
func (b *buffer) reset() {
	if keep := b.chunk + 1; keep < len(b.chunks) {
		clear(b.chunks[keep:])
		b.chunks = b.chunks[:keep]
	}
	if n := len(b.Records); cap(b.Records) > 1024 && n < cap(b.Records)/4 {
		b.Records = make([]Record, 0, n)
	} else {
		clear(b.Records)
		b.Records = b.Records[:0]
	}
	b.First, b.Last, b.bytes, b.highWater, b.chunk, b.used = 0, 0, 0, 0, 0, 0
}

// settleTimes gives records without a timestamp that of the nearest earlier one of the batch, or of the first one that
// has any. It looks at the batch alone, so that a batch formed again is the same.
func (b *buffer) settleTimes() {
	missing := false
	for i := range b.Records {
		if b.Records[i].Time <= 0 {
			missing = true
			break
		}
	}
	if !missing {
		return
	}
	for i := range b.Records {
		if t := b.Records[i].Time; t > 0 {
			for j := range b.Records {
				if b.Records[j].Time > 0 {
					t = b.Records[j].Time
				} else {
					b.Records[j].Time = t
				}
			}
			return
		}
	}
	for i := range b.Records {
		b.Records[i].Time = 0
	}
}
