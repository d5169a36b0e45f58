package geofence

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// maxCells bounds the cells of one fence. A circle of 20 km takes about 1,500.
const maxCells = 4096

// Index finds the fences at a place. It is immutable and safe for concurrent use.
//
// Every fence is a list of H3 cells (area.Compact), as coarse as they may be; the table maps each to the fences that have
// it. To look up a fix, its cell is sought in the table and then each of its parents at a resolution that occurs.
type Index struct {
	fences []fence // by id, then From
	byID   map[fleet.FenceID]span
	hash   uint64

	resolutions []int // that occur in the table, from fine to coarse
	slots       []slot
	shift       uint
	entries     []entry

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

// shape is a geometry compiled, which many versions may share.
type shape struct {
	area.Shape
	cover  area.Covering
	bounds area.Bounds
}

type span struct{ from, to int }

// entry is a fence in a cell: its place in Index.fences, and what the cell is to it.
type entry uint32

const (
	inNearby   entry = iota // no place in the cell is in it
	inBoundary              // the place must be tested
	inInterior              // every place in the cell is in it
)

func (e entry) fence() int { return int(e >> 2) }

// slot is a place in the table, empty if it has no cell.
type slot struct {
	cell     fleet.Cell
	from, to uint32 // of entries
}

// NewIndex compiles the versions of an account's fences. The error joins what is wrong with those that could not be used;
// the others are.
func NewIndex(versions []fleet.FenceVersion) (*Index, error) { return NewIndexFrom(nil, versions) }

// NewIndexFrom is NewIndex that takes over from an earlier index, which may be nil, every geometry that it has compiled:
// most of the work of a new index after one fence was changed.
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
	for i := range ix.fences {
		f := &ix.fences[i]
		var b [48]byte
		for k, n := range [...]uint64{uint64(f.ID), f.Revision, uint64(f.From), uint64(f.To), uint64(f.Dwell), math.Float64bits(f.SpeedLimit)} {
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
	type pair struct {
		cell  fleet.Cell
		entry entry
	}
	var pairs []pair
	for i := range ix.fences {
		c := &ix.fences[i].cover
		for kind, cells := range [...][]fleet.Cell{inNearby: c.Nearby, inBoundary: c.Boundary, inInterior: c.Interior} {
			for _, cell := range cells {
				pairs = append(pairs, pair{cell, entry(i)<<2 | entry(kind)})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.entry, b.entry)) })
	distinct := 0
	for i := range pairs {
		if i == 0 || pairs[i].cell != pairs[i-1].cell {
			distinct++
		}
	}
	bits := uint(4)
	for 1<<bits < 2*distinct {
		bits++
	}
	ix.slots, ix.shift = make([]slot, 1<<bits), 64-bits
	ix.entries = make([]entry, len(pairs))
	var occur [16]bool
	for i := 0; i < len(pairs); {
		cell, from := pairs[i].cell, i
		for ; i < len(pairs) && pairs[i].cell == cell; i++ {
			ix.entries[i] = pairs[i].entry
		}
		at := ix.home(cell)
		for ix.slots[at].cell != 0 {
			at = (at + 1) & (len(ix.slots) - 1)
		}
		ix.slots[at] = slot{cell, uint32(from), uint32(i)}
		occur[cell>>52&15] = true
	}
	for r := len(occur) - 1; r >= 0; r-- {
		if occur[r] {
			ix.resolutions = append(ix.resolutions, r)
		}
	}
}

// home is where in the table a cell is looked for first (Fibonacci hashing).
func (ix *Index) home(c fleet.Cell) int { return int(uint64(c) * 0x9e3779b97f4a7c15 >> ix.shift) }

// candidates appends the entries of a cell and its parents, by fence.
func (ix *Index) candidates(cell fleet.Cell, buf []entry) []entry {
	if cell == 0 {
		return buf
	}
	begin, lists := len(buf), 0
	for _, r := range ix.resolutions {
		c := area.Parent(cell, r)
		for at := ix.home(c); ; at = (at + 1) & (len(ix.slots) - 1) {
			s := &ix.slots[at]
			if s.cell == c {
				buf = append(buf, ix.entries[s.from:s.to]...)
				lists++
				break
			}
			if s.cell == 0 {
				break
			}
		}
	}
	if lists > 1 {
		// Each list is in order already, and they are short.
		list := buf[begin:]
		for i := 1; i < len(list); i++ {
			for j := i; j > 0 && list[j] < list[j-1]; j-- {
				list[j], list[j-1] = list[j-1], list[j]
			}
		}
	}
	return buf
}

// At appends to buf the indexes, within what NewIndex was given, of the versions that hold at a time and contain a place
// whose cell is given (0 if it is not known), by fence. Scopes and schedules are not looked at: they ask about a vehicle.
func (ix *Index) At(lat, lng float64, cell fleet.Cell, at fleet.Millis, buf []int) []int {
	if cell == 0 {
		cell = CellOf(lat, lng)
	}
	var array [64]entry
	for _, e := range ix.candidates(cell, array[:0]) {
		f := &ix.fences[e.fence()]
		if f.valid(at) && (e&3 == inInterior || e&3 == inBoundary && f.Contains(lat, lng)) {
			buf = append(buf, f.source)
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
