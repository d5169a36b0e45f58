package sink

import "github.com/ClickHouse/clickhouse-go/v2/lib/driver"

// table is the rows that a batch has for one table.
type table interface {
	rows() int
	insert() string  // INSERT INTO … (columns)
	columns() []part // in the order of insert
	keys(source Source) keys
}

// part is what rows are kept in: a column, several, or what helps to make them. It keeps its memory when it is reset.
type part interface {
	reset()
	fill(f *filler)
}

// filler appends columns in order and remembers the first error.
type filler struct {
	batch  driver.Batch
	source Source
	rows   int
	next   int
	err    error
}

// fill appends all rows of a table.
func fill(into driver.Batch, t table, source Source) error {
	f := filler{batch: into, source: source, rows: t.rows()}
	for _, c := range t.columns() {
		c.fill(&f)
	}
	return f.err
}

func (f *filler) column(values any) {
	if f.err == nil {
		f.err = f.batch.Column(f.next).Append(values)
	}
	f.next++
}

// each fills a column value by value.
func (f *filler) each(value func(i int) any) {
	column := f.batch.Column(f.next)
	for i := 0; i < f.rows && f.err == nil; i++ {
		f.err = column.AppendRow(value(i))
	}
	f.next++
}

// list is a column whose values are all there.
type list[T any] []T

func (l *list[T]) add(v T)        { *l = append(*l, v) }
func (l *list[T]) reset()         { *l = (*l)[:0] }
func (l *list[T]) fill(f *filler) { f.column([]T(*l)) }

// words is a column of low cardinality. Its values are boxed already, so that nothing is allocated for a row.
type words []any

func (w *words) add(boxed any)  { *w = append(*w, boxed) }
func (w *words) reset()         { *w = (*w)[:0] }
func (w *words) fill(f *filler) { f.each(func(i int) any { return (*w)[i] }) }

// optional is a column of numbers of which some are absent.
type optional[T any] struct {
	values []T
	absent []bool
	refs   []*T // made when the column is sent: until then values may move
}

func (o *optional[T]) add(v T, ok bool) {
	o.values, o.absent = append(o.values, v), append(o.absent, !ok)
}

func (o *optional[T]) reset() { o.values, o.absent = o.values[:0], o.absent[:0] }

func (o *optional[T]) fill(f *filler) {
	o.refs = o.refs[:0]
	for i := range o.values {
		if o.absent[i] {
			o.refs = append(o.refs, nil)
		} else {
			o.refs = append(o.refs, &o.values[i])
		}
	}
	f.column(o.refs)
}

// origin is the two columns of where all rows come from: topic and partition.
type origin struct{}

func (origin) reset() {}

func (origin) fill(f *filler) {
	var topic, partition any = f.source.Topic, uint16(f.source.Partition)
	f.each(func(int) any { return topic })
	f.each(func(int) any { return partition })
}

// records are rows that are inserted one by one, because they are few. Their values are in the
// order of insert.
type records[T interface{ values(source Source) []any }] []T

func (r *records[T]) reset() {
	clear(*r) // they may hold on to much
	*r = (*r)[:0]
}

func (r *records[T]) fill(f *filler) {
	for i := 0; i < len(*r) && f.err == nil; i++ {
		f.err = f.batch.Append((*r)[i].values(f.source)...)
	}
}

// index finds the row that a key has already. It is no column.
type index map[[3]uint64]int

// row returns the row of a key; if the key is new, that is next.
func (x *index) row(key [3]uint64, next int) (i int, known bool) {
	if i, known = (*x)[key]; known {
		return i, true
	}
	if *x == nil {
		*x = make(index)
	}
	(*x)[key] = next
	return next, false
}

func (x *index) reset()       { clear(*x) }
func (x *index) fill(*filler) {}
