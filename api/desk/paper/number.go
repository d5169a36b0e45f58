package paper

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Numbers of papers have no gap and no double, in each series: of a kind of paper in a year of an account. The register
// of the series is a record, and each of its revisions but the first gives the next number to one paper: the revision
// is the decision, by compare-and-set. What follows is that the paper bears it.
//
//	register  …  │ 41 → inv_7 │ 42 → inv_9 │
//	                  │            │
//	paper            inv_7: 41    inv_9: 42 ◄── entered by who decided, or by whoever wants the next one
//
// Nobody gives a number before the last one stands on its paper, and whoever is about to give one looks at the paper
// after that. So a paper that has none then was given none, whoever died where, and the next revision of the register
// gives it its only one. A paper that is sealed cannot be archived or changed back, so that every number given is
// borne.

// number gives a sealed paper its number, unless it has one.
func (d *Papers) number(ctx context.Context, by record.Author, account fleet.AccountID, kind string,
	id uint64) (rec, error) {
	log := d.logs[kind]
	r, err := log.Get(ctx, account, id)
	if err != nil || r.Body.Number != "" {
		return r, err
	}
	if r.Body.Status != record.PaperIssuing {
		return r, record.MovePaper(&r, record.PaperOpen)
	}
	of := r.Body.Series
	register := fleet.DerivedID(fleet.Kind("paper series "+of), fleet.VehicleKey{Account: account}, 0, 0)
	turn := &d.turns[register%uint64(len(d.turns))]
	turn.Lock()
	defer turn.Unlock()
	for {
		last, err := d.register(ctx, account, register, kind, of)
		if err != nil {
			return r, err
		}
		if _, err := d.enter(ctx, record.System, last); err != nil { // another paper's, mostly
			return r, err
		}
		if r, err = log.Get(ctx, account, id); err != nil || r.Body.Number != "" {
			return r, err
		}
		next, err := d.claim(ctx, by, last, &r)
		if fleet.CodeOf(err) == fleet.CodeStale {
			continue // another paper got that number
		}
		if err != nil {
			return r, err
		}
		return d.enter(ctx, by, next)
	}
}

// register reads the register of a series, and begins it if it is the first of its series.
func (d *Papers) register(ctx context.Context, account fleet.AccountID, id uint64, kind,
	of string) (record.Record[record.PaperSeries], error) {
	last, _, err := d.series.Ensure(ctx, record.System, account, id, record.PaperSeries{Of: of, Kind: kind})
	return last, err
}

// claim gives the number after the last to a paper. A *fleet.Error of the code fleet.CodeStale says that another paper
// got it.
func (d *Papers) claim(ctx context.Context, by record.Author, last record.Record[record.PaperSeries],
	paper *rec) (record.Record[record.PaperSeries], error) {
	return d.series.Update(ctx, record.Author{Actor: by.Actor, RequestID: by.RequestID}, last.Account, last.ID,
		last.Revision, func(s *record.Record[record.PaperSeries]) error {
			s.Body.Last++
			s.Body.Paper = paper.ID
			s.Body.Number = fmt.Sprintf("%s%.4s-%05d", paper.Body.Prefix, paper.Body.IssuedOn, s.Body.Last)
			return nil
		})
}

// enter writes the number that was given last on its paper, unless it stands there.
func (d *Papers) enter(ctx context.Context, by record.Author, last record.Record[record.PaperSeries]) (rec, error) {
	given := last.Body
	if given.Paper == 0 {
		return rec{}, nil
	}
	return d.logs[given.Kind].Update(ctx, by, last.Account, given.Paper, 0, func(r *rec) error {
		if r.Body.Number != "" {
			return nil
		}
		to := record.PaperIssued
		if given.Kind == record.Invoices.Name {
			to = record.PaperOpen
		}
		if err := record.MovePaper(r, to); err != nil {
			return err
		}
		r.Body.Number, r.Body.Sequence = given.Number, given.Last
		return nil
	})
}
