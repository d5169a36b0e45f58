package export

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// Rows of one record batch, and of one Parquet row group, which compresses and skips better when large.
const (
	arrowBatch   = 8 << 10
	parquetGroup = 64 << 10
)

// batches collects rows into Arrow record batches and hands each on when it is full.
type batches struct {
	columns []Column
	builder *array.RecordBuilder
	size    int
	rows    int
	emit    func(arrow.Record) error
	finish  func() error
}

func arrowSchema(columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Nullable: true}
		switch c.Kind {
		case Number:
			fields[i].Type = arrow.PrimitiveTypes.Float64
		case Whole:
			fields[i].Type = arrow.PrimitiveTypes.Int64
		case Truth:
			fields[i].Type = arrow.FixedWidthTypes.Boolean
		case Instant:
			fields[i].Type = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}
		case Words:
			fields[i].Type = arrow.ListOf(arrow.BinaryTypes.String)
		default:
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	return arrow.NewSchema(fields, nil)
}

func newArrow(w io.Writer, columns []Column) *batches {
	schema := arrowSchema(columns)
	// The schema is written with the first batch, or at the end.
	stream := ipc.NewWriter(w, ipc.WithSchema(schema))
	return &batches{
		columns: columns, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema), size: arrowBatch,
		emit: stream.Write, finish: stream.Close,
	}
}

func newParquet(w io.Writer, columns []Column) (*batches, error) {
	schema := arrowSchema(columns)
	to := &patient{w: w}
	file, err := pqarrow.NewFileWriter(schema, to,
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithCreatedBy("motorpool")),
		pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, fmt.Errorf("begin parquet: %w", err)
	}
	return &batches{
		columns: columns, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema), size: parquetGroup,
		emit:   func(r arrow.Record) error { return errors.Join(file.Write(r), to.err) },
		finish: func() error { return errors.Join(file.Close(), to.err) },
	}, nil
}

// patient keeps the first error of a writer to itself, because the Parquet writer panics when a write fails inside a
// row group. It has no Close, so that the file writer cannot close what belongs to the caller.
type patient struct {
	w   io.Writer
	err error
}

func (p *patient) Write(b []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
	return len(b), nil
}

func (b *batches) Write(row []Value) error {
	for i := range row {
		appendArrow(b.builder.Field(i), b.columns[i].Kind, &row[i])
	}
	b.rows++
	if b.rows%b.size == 0 {
		return b.flush()
	}
	return nil
}

func (b *batches) flush() error {
	record := b.builder.NewRecord()
	defer record.Release()
	if record.NumRows() == 0 {
		return nil
	}
	return b.emit(record)
}

func (b *batches) Close() error {
	defer b.builder.Release()
	if err := b.flush(); err != nil {
		return err
	}
	return b.finish()
}

func appendArrow(to array.Builder, kind Kind, v *Value) {
	if !v.set {
		to.AppendNull()
		return
	}
	switch kind {
	case Number:
		to.(*array.Float64Builder).Append(v.number)
	case Whole:
		to.(*array.Int64Builder).Append(v.whole)
	case Truth:
		to.(*array.BooleanBuilder).Append(v.whole != 0)
	case Instant:
		to.(*array.TimestampBuilder).Append(arrow.Timestamp(v.whole))
	case Words:
		list := to.(*array.ListBuilder)
		list.Append(true)
		for _, word := range v.words {
			list.ValueBuilder().(*array.StringBuilder).Append(word)
		}
	default:
		to.(*array.StringBuilder).Append(v.text)
	}
}
