package consume

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

var (
	errInflatesTooLarge = errors.New("it inflates to more than the limit")
	errUnknownCodec     = errors.New("unknown compression")
)

// inflater decompresses record batches. What a batch says of its own size is believed only as far as the limit goes.
type inflater struct {
	limit  int    // How many bytes a decompressed batch may have.
	memory []byte // The memory of the last decompressed batch, which is used again.
	zstd   *zstd.Decoder
}

// keptInflated is how much memory an inflater keeps for the next batch: one very large batch does not decide for ever
// what a partition costs.
const keptInflated = 8 << 20

// inflating is a token for each batch that is being decompressed in this process. That is work for a processor, and
// without it each partition could hold the limit at once.
var inflating = make(chan struct{}, runtime.GOMAXPROCS(0))

// release says that what was inflated last is not needed any more.
func (in *inflater) release() {
	if cap(in.memory) > keptInflated {
		in.memory = nil
	}
}

// inflate returns the decompressed form of p, which is valid until the next call of it or of release.
func (in *inflater) inflate(c compress.Compression, p []byte) ([]byte, error) {
	inflating <- struct{}{}
	defer func() { <-inflating }()
	out, err := in.decode(c, in.memory[:0], p)
	if err != nil {
		return nil, err
	}
	in.memory = out
	return out, nil
}

func (in *inflater) decode(c compress.Compression, out, p []byte) ([]byte, error) {
	switch c {
	case compress.Gzip, compress.Lz4:
		return in.stream(c.Codec(), out, p)
	case compress.Snappy:
		return in.snappy(out, p)
	case compress.Zstd:
		return in.zstandard(out, p)
	}
	return nil, fmt.Errorf("%w %d", errUnknownCodec, int8(c))
}

// stream reads a codec of kafka-go, whose readers need little memory of their own.
func (in *inflater) stream(codec compress.Codec, out, p []byte) ([]byte, error) {
	r := codec.NewReader(bytes.NewReader(p))
	defer r.Close()
	for {
		if len(out) == cap(out) {
			if len(out) > in.limit {
				return nil, errInflatesTooLarge
			}
			grown := make([]byte, len(out), min(max(2*cap(out), 4*len(p), 4<<10), in.limit+1))
			copy(grown, out)
			out = grown
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > in.limit:
			return nil, errInflatesTooLarge
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
	}
}

// xerialMagic begins the framing in which Java's producer sends snappy: 16 bytes of header, and then blocks with their
// length before them. Others send one bare block. kafka-go's reader believes the length of a block, up to 4 GiB.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeader = 16

func (in *inflater) snappy(out, p []byte) ([]byte, error) {
	if len(p) < xerialHeader || !bytes.HasPrefix(p, xerialMagic) {
		return in.snappyBlock(out, p)
	}
	for p = p[xerialHeader:]; len(p) > 0; {
		if len(p) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := int64(binary.BigEndian.Uint32(p))
		if p = p[4:]; size > int64(len(p)) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if out, err = in.snappyBlock(out, p[:size]); err != nil {
			return nil, err
		}
		p = p[size:]
	}
	return out, nil
}

// snappyBlock appends a block to out.
func (in *inflater) snappyBlock(out, p []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(p)
	if err != nil {
		return nil, err
	}
	if n > in.limit-len(out) {
		return nil, errInflatesTooLarge
	}
	if need := len(out) + n; need > cap(out) {
		grown := make([]byte, len(out), min(max(2*cap(out), need), in.limit))
		copy(grown, out)
		out = grown
	}
	block, err := snappy.Decode(out[len(out):len(out)+n], p)
	if err != nil {
		return nil, err
	}
	return out[:len(out)+len(block)], nil
}

// zstandard decompresses in one piece: then the output is the window, and a window that is larger costs nothing.
func (in *inflater) zstandard(out, p []byte) ([]byte, error) {
	if in.zstd == nil {
		var err error
		in.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(in.limit)))
		if err != nil {
			return nil, err
		}
	}
	out, err := in.zstd.DecodeAll(p, out)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = errInflatesTooLarge
	}
	return out, err
}
