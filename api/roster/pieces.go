package roster

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/motorpool/fleet"
)

// Piece is a record as it is answered, ready to be sent. It is shared and never changed.
type Piece struct {
	JSON     []byte
	Tag      string    // entity tag
	Revision uint64    // of the record
	By       uint64    // the number of what else the answer follows from, which a piece must not keep in memory
	From     time.Time // the instant at which it was made
	Until    time.Time // the last instant at which it is answered so
}

// fits says whether a piece is still what is answered.
func (p *Piece) fits(revision, by uint64, now time.Time) bool {
	return p.Revision == revision && p.By == by && !now.Before(p.From) && !now.After(p.Until)
}

// size is how many bytes of memory a piece takes.
func (p *Piece) size() int64 { return int64(200 + len(p.JSON) + len(p.Tag)) }

// PieceOf names a piece: a record, and whether it is in metric units.
type PieceOf struct {
	Account fleet.AccountID
	ID      uint64
	Metric  bool
}

// Pieces keeps what was made ready, so that what is asked for again is sent as it is. Those that were asked for last
// take up to a part of the memory. It is safe for concurrent use; a nil one keeps nothing.
type Pieces struct {
	r    *Roster
	most int64 // bytes of the younger half

	mu         sync.RWMutex
	young, old map[PieceOf]*Piece
	bytes      [2]int64 // of the young and of the old
	asked      atomic.Int64
}

// piecesPart is the part of a roster's memory that pieces may take.
const piecesPart = 8

// NewPieces makes a memory of pieces; nil if nothing is kept.
func NewPieces(r *Roster) *Pieces {
	if r == nil {
		return nil
	}
	p := &Pieces{r: r, most: r.cfg.Memory / piecesPart / 2, young: map[PieceOf]*Piece{}}
	r.watchers = append(r.watchers, p)
	return p
}

// Get returns the piece of a record's revision, if it was made of the same and holds now; nil if there is none.
func (p *Pieces) Get(of PieceOf, revision, by uint64, now time.Time) *Piece {
	if p == nil {
		return nil
	}
	p.mu.RLock()
	found, young := p.young[of]
	if !young {
		found = p.old[of]
	}
	p.mu.RUnlock()
	if found == nil || !found.fits(revision, by, now) {
		p.r.metrics.made.Inc()
		return nil
	}
	p.r.metrics.ready.Inc()
	if !young {
		p.Put(of, found)
	}
	return found
}

// Put keeps a piece.
func (p *Pieces) Put(of PieceOf, piece *Piece) {
	if p == nil || p.r.off.Load() {
		return
	}
	p.asked.Store(p.r.clock())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes[0]+piece.size() > p.most {
		p.age()
	}
	if before := p.young[of]; before != nil {
		p.add(0, -before.size())
	}
	p.young[of] = piece
	p.add(0, piece.size())
}

func (p *Pieces) add(half int, bytes int64) {
	p.bytes[half] += bytes
	p.r.bytes.Add(bytes)
}

// age lets go of the old pieces, and what was young is old. The lock is held.
func (p *Pieces) age() {
	p.add(1, -p.bytes[1])
	p.old, p.young = p.young, map[PieceOf]*Piece{}
	p.bytes[0], p.bytes[1] = 0, p.bytes[0]
}

// clear lets go of all.
func (p *Pieces) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.age()
	p.age()
}

// accounts are none: of what pieces follow others keep watch.
func (p *Pieces) accounts() []fleet.AccountID { return nil }

// changed lets go of all if rows were rewritten in place, as an erasure does. Of other changes nothing need be known: a
// piece that follows from what is kept no more fits nothing.
func (p *Pieces) changed(_ fleet.AccountID, c *changes) {
	if c.any != 0 {
		p.clear()
	}
}

func (p *Pieces) wrote(fleet.AccountID, reach, int64) {}

func (p *Pieces) kept() []kept {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.bytes[0]+p.bytes[1] == 0 {
		return nil
	}
	return []kept{{p.asked.Load(), p.clear}}
}
