package geofence

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// maxRepeated bounds the entries of its parents that a block repeats.
const maxRepeated = 16

// maxCells bounds the cells of one fence. A circle of 20 km takes about 1,500.
const maxCells = 4096

// Index finds the fences at a place. It is immutable and safe for concurrent use.
//
// Every fence is a list of H3 cells (area.Compact), as coarse as they may be. The table has the coarser of these, and
// those in which there are finer ones, which have a block: the fences that have one of the finest cells in it or one of
// their parents, and for each of these cells two bits a fence for what it is to it. So a fix needs one look into a
// table that is small, and its next fix finds the block in the processor's cache. A block repeats what its parents have
// unless that is much: then it is looked up.
type Index struct {
	fences []fence         // by id, then From
	ids    []fleet.FenceID // of the fences
	briefs []brief         // of the fences
	begun  fleet.Millis    // when the last of them had begun
	byID   map[fleet.FenceID]span
	hash   uint64

	resolutions []int // that occur in the table, from fine to coarse
	slots       []slot
	shift       uint
	entries     []entry
	rows        []uint32

	shapes map[string]*shape // by geometry, for the next index
}

// fence is a version of a fence, ready for use.
type fence struct {
	fleet.FenceVersion
	*shape
	hours    *hours
	vehicles map[fleet.VehicleID]bool // of the scope; nil if it is short or everybody
	everyone bool
	source   int // its place in what NewIndex was given
}

// brief is what is asked of a fence that a place may be in or near, in one line of the processor's cache.
type brief struct {
	from, to fleet.Millis
	shape    area.Shape
	bounds   area.Bounds
}

// valid says whether the version holds at a time.
func (b *brief) valid(at fleet.Millis) bool { return b.from <= at && (b.to == 0 || at < b.to) }

// shape is a geometry compiled, which many versions may share.
type shape struct {
	area.Shape
	cover  area.Covering
	bounds area.Bounds
}

type span struct{ from, to int }

// entry is a fence in a cell: its place in Index.fences, whether it is lasting, and what the cell is to it.
type entry uint32

const (
	inNearby   entry = iota // no place in the cell is in it
	inBoundary              // the place must be tested
	inInterior              // every place in the cell is in it

	kinds   entry = 3
	lasting entry = 4 // it is for everyone, at all hours, without an end
)

func (e entry) fence() int  { return int(e >> 3) }
func (e entry) kind() entry { return e & kinds }

// slot is a place in the table, empty if it has no cell. The entries of the cell itself are from from to to. Those of
// its block follow; the block has a row of words in Index.rows for each of the finest cells, by its last two digits
// as they are in the number of a cell. Two bits a fence say what the cell is to it: one more than in an entry, 0 if
// it is nothing.
type slot struct {
	cell        fleet.Cell
	from, to    uint32
	rows, words uint32 // where the rows begin, and how long each is: 0 for no block
	apart       bool   // the block repeats no entry of the cell and its parents
}

const (
	blockResolution = fleet.CellResolution - 2
	blockRows       = 8 * 8
	perWord         = 16 // fences
)

// NewIndex compiles the versions of an account's fences. The error joins what is wrong with those that could not be
// used; the others are.
func NewIndex(versions []fleet.FenceVersion) (*Index, error) { return NewIndexFrom(nil, versions) }

// NewIndexFrom is NewIndex that takes over from an earlier index, which may be nil, every geometry that it has
// compiled: most of the work of a new index after one fence was changed.
func NewIndexFrom(earlier *Index, versions []fleet.FenceVersion) (*Index, error) {
	ix := &Index{byID: map[fleet.FenceID]span{}, shapes: map[string]*shape{}}
	var problems []error
	for i, v := range versions {
		s, err := ix.compile(earlier, v.Geometry)
		if err != nil {
			problems = append(problems, fmt.Errorf("compile geofence %s revision %d: %w", v.ID, v.Revision, err))
			continue
		}
		f := fence{FenceVersion: v, shape: s, hours: compileHours(v.Schedule), source: i}
		f.everyone = len(v.Scope.Vehicles) == 0 && len(v.Scope.Tags) == 0
		if len(v.Scope.Vehicles) > 8 {
			f.vehicles = make(map[fleet.VehicleID]bool, len(v.Scope.Vehicles))
			for _, id := range v.Scope.Vehicles {
				f.vehicles[id] = true
			}
		}
		ix.fences = append(ix.fences, f)
	}
	slices.SortStableFunc(ix.fences, func(a, b fence) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From), cmp.Compare(a.Revision, b.Revision))
	})
	hash := fnv.New64a()
	ix.ids, ix.briefs = make([]fleet.FenceID, len(ix.fences)), make([]brief, len(ix.fences))
	for i := range ix.fences {
		f := &ix.fences[i]
		ix.ids[i], ix.briefs[i] = f.ID, brief{f.From, f.To, f.Shape, f.bounds}
		ix.begun = max(ix.begun, f.From)
		var b [48]byte
		for k, n := range [...]uint64{uint64(f.ID), f.Revision, uint64(f.From), uint64(f.To), uint64(f.Dwell),
			math.Float64bits(f.SpeedLimit)} {
			binary.BigEndian.PutUint64(b[8*k:], n)
		}
		hash.Write(b[:])
		s := ix.byID[f.ID]
		if s.to == 0 {
			s.from = i
		}
		s.to = i + 1
		ix.byID[f.ID] = s
	}
	ix.hash = hash.Sum64() | 1 // never that of a State that knows nothing
	ix.build()
	return ix, errors.Join(problems...)
}

// compile reads and covers a geometry, unless it was done before.
func (ix *Index) compile(earlier *Index, geometry []byte) (*shape, error) {
	key := string(bytes.TrimSpace(geometry))
	if s := ix.shapes[key]; s != nil {
		return s, nil
	}
	if earlier != nil {
		if s := earlier.shapes[key]; s != nil {
			ix.shapes[key] = s
			return s, nil
		}
	}
	drawn, err := area.Parse(geometry)
	if err != nil {
		return nil, err
	}
	cover, err := area.Compact(drawn, fleet.CellResolution, maxCells)
	if err != nil {
		return nil, err
	}
	s := &shape{drawn, cover, drawn.Bounds()}
	ix.shapes[key] = s
	return s, nil
}

// build fills the table.
func (ix *Index) build() {
	var pairs []pair
	for i := range ix.fences {
		f := &ix.fences[i]
		own, c := entry(i)<<3, &f.cover
		if f.everyone && f.hours == nil && f.To == 0 {
			own |= lasting
		}
		for kind, cells := range [...][]fleet.Cell{inNearby: c.Nearby, inBoundary: c.Boundary, inInterior: c.Interior} {
			for _, cell := range cells {
				pairs = append(pairs, pairOf(cell, own|entry(kind)))
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.entry, b.entry))
	})
	distinct := 0
	for i := range pairs {
		if i == 0 || pairs[i].cell != pairs[i-1].cell {
			distinct++
		}
		if r := resolution(pairs[i].cell); len(ix.resolutions) == 0 || ix.resolutions[0] != r {
			ix.resolutions = slices.Insert(ix.resolutions, 0, r)
		}
	}
	size := uint(4)
	for 1<<size < 2*distinct {
		size++
	}
	ix.slots, ix.shift = make([]slot, 1<<size), 64-size
	// The number of a coarser cell is smaller: when a cell's turn comes its parents are in the table.
	var fine []pair
	for from, to := 0, 0; from < len(pairs); from = to {
		for to < len(pairs) && pairs[to].cell == pairs[from].cell {
			to++
		}
		fine = ix.add(pairs[from:to], fine[:0])
	}
	ix.entries, ix.rows = slices.Clip(ix.entries), slices.Clip(ix.rows)
}

// pair is an entry of a cell of the table, or of some of the cells in it.
type pair struct {
	cell     fleet.Cell
	entry    entry
	from, to uint8 // rows of the block
}

func pairOf(c fleet.Cell, e entry) pair {
	r := resolution(c)
	if r <= blockResolution {
		return pair{c, e, 0, blockRows}
	}
	// A cell that is not of the finest resolution has all digits below its own.
	first, last := area.Span(c, fleet.CellResolution)
	return pair{area.Parent(c, blockResolution), e, uint8(inBlock(first)), uint8(inBlock(last) + 1)}
}

// add puts a cell into the table, all of whose entries are given. It returns fine, which is room for work.
func (ix *Index) add(pairs, fine []pair) []pair {
	s := ix.slot(pairs[0].cell)
	s.cell, s.from = pairs[0].cell, uint32(len(ix.entries))
	for _, p := range pairs {
		if p.to-p.from == blockRows {
			ix.entries = append(ix.entries, p.entry)
		} else {
			fine = append(fine, p)
		}
	}
	s.to = uint32(len(ix.entries))
	if len(fine) == 0 {
		return fine
	}
	coarse := ix.coarse(s.cell, nil)
	if s.apart = len(coarse) > maxRepeated; !s.apart {
		for _, e := range coarse {
			fine = append(fine, pair{s.cell, e, 0, blockRows})
		}
		slices.SortFunc(fine, func(a, b pair) int { return cmp.Compare(a.entry, b.entry) })
	}
	fences := uint32(0)
	for i, p := range fine {
		if i == 0 || p.entry.fence() != fine[i-1].entry.fence() {
			ix.entries = append(ix.entries, p.entry&^kinds)
			fences++
		}
	}
	s.rows, s.words = uint32(len(ix.rows)), (fences+perWord-1)/perWord
	ix.rows = append(ix.rows, make([]uint32, blockRows*s.words)...)
	at := uint32(0)
	for i, p := range fine {
		if i > 0 && p.entry.fence() != fine[i-1].entry.fence() {
			at++
		}
		for k := p.from; k < p.to; k++ {
			ix.rows[s.rows+uint32(k)*s.words+at/perWord] |= uint32(p.entry.kind()+1) << (2 * (at % perWord))
		}
	}
	return fine
}

// slot returns the place in the table of a cell, or the empty one where it would be.
func (ix *Index) slot(c fleet.Cell) *slot {
	// Fibonacci hashing says where to look first.
	at := int(uint64(c) * 0x9e3779b97f4a7c15 >> ix.shift)
	for ix.slots[at].cell != c && ix.slots[at].cell != 0 {
		at = (at + 1) & (len(ix.slots) - 1)
	}
	return &ix.slots[at]
}

// candidates appends to list, which is empty, the entries of a cell and its parents, by fence.
func (ix *Index) candidates(cell fleet.Cell, list []entry) []entry {
	if cell == 0 {
		return list
	}
	s := ix.slot(area.Parent(cell, blockResolution))
	if s.words != 0 {
		row, fences := ix.rows[s.rows+inBlock(cell)*s.words:][:s.words], ix.entries[s.to:]
		for i, word := range row {
			for word != 0 {
				at := bits.TrailingZeros32(word) &^ 1
				list = append(list, fences[perWord*i+at/2]|entry(word>>at&3-1))
				word &^= 3 << at
			}
		}
	}
	if s.words == 0 || s.apart {
		return ix.coarse(cell, list)
	}
	return list
}

// coarse appends to list the entries of the cells of the table that hold a cell, and sorts all by fence.
func (ix *Index) coarse(cell fleet.Cell, list []entry) []entry {
	for _, r := range ix.resolutions {
		if s := ix.slot(area.Parent(cell, r)); s.cell != 0 {
			list = append(list, ix.entries[s.from:s.to]...)
		}
	}
	slices.Sort(list)
	return list
}

func resolution(c fleet.Cell) int { return int(c >> 52 & 15) }

// inBlock returns which of the rows of its block is a cell's: its last two digits.
func inBlock(c fleet.Cell) uint32 { return uint32(c>>(3*(15-fleet.CellResolution))) & (blockRows - 1) }

// At appends to buf the indexes, within what NewIndex was given, of the versions that hold at a time and contain a
// place whose cell is given (0 if it is not known), by fence. Scopes and schedules are not looked at: they ask
// about a vehicle.
func (ix *Index) At(lat, lng float64, cell fleet.Cell, at fleet.Millis, buf []int) []int {
	if cell == 0 {
		cell = CellOf(lat, lng)
	}
	var room [64]entry
	for _, e := range ix.candidates(cell, room[:0]) {
		b := &ix.briefs[e.fence()]
		if b.valid(at) && (e.kind() == inInterior || e.kind() == inBoundary && b.shape.Contains(lat, lng)) {
			buf = append(buf, ix.fences[e.fence()].source)
		}
	}
	return buf
}

// valid says whether the version holds at a time.
func (f *fence) valid(at fleet.Millis) bool { return f.From <= at && (f.To == 0 || at < f.To) }

// meant says whether the vehicle is in the version's scope.
func (f *fence) meant(vehicle fleet.VehicleID, t *fleet.Traits) bool {
	return f.everyone || f.vehicles[vehicle] || f.Scope.Holds(vehicle, t.Tags)
}

// version returns a version of a fence, or nil.
func (ix *Index) version(id fleet.FenceID, revision uint64) *fence {
	s := ix.byID[id]
	for i := s.to - 1; i >= s.from; i-- {
		if ix.fences[i].Revision == revision {
			return &ix.fences[i]
		}
	}
	return nil
}

// versionAt returns the version of a fence that holds at a time, or nil.
func (ix *Index) versionAt(id fleet.FenceID, at fleet.Millis) *fence {
	s := ix.byID[id]
	for i := s.to - 1; i >= s.from; i-- {
		if ix.fences[i].valid(at) {
			return &ix.fences[i]
		}
	}
	return nil
}

// far says whether a fix with an accuracy, in metres, is outside by more than the margin.
func (f *fence) far(lat, lng, accuracy float64) bool {
	return f.Outside(lat, lng, f.margin(accuracy))
}

func (f *fence) margin(accuracy float64) float64 {
	margin := f.Margin
	if margin <= 0 {
		margin = DefaultMargin
	}
	return max(margin, accuracy)
}

func (f *fence) confirm() int { return max(1, f.Confirm) }
