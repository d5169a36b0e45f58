package record

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
)

// What was read before somebody was told what came to the log is not taken for the newest, as what came may be newer;
// nor is what a newer one was told of, what is of a kind that nobody follows, what is too large, or what there is no
// room for.
func TestAHeadIsTheNewestRevisionOrNoneAtAll(t *testing.T) {
	const account, kind = 7, "calendar"
	s := &Store{}
	followed := s.Follow(kind)
	begin := func() *headsOf {
		of := &headsOf{newest: map[Ref]head{}, lacking: map[Ref]bool{}, asked: time.Now(), reading: true} // by nobody
		s.heads.accounts[account] = of
		return of
	}
	of := begin()
	note := func(id, number uint64, body string, at time.Time) bool {
		return s.heads.note(&revision{account: account, kind: kind, id: id, number: number, body: body,
			before: &revision{}}, at)
	}
	told := func(id, number uint64) {
		followed.Told([]uint64{account}, time.Now(), []query.Came{{Account: account, Kind: kind, ID: id,
			Revision: number}})
	}
	is := func(id, number uint64, body string) {
		t.Helper()
		r, _ := s.heads.find(account, Ref{kind, id}, time.Minute)
		if r == nil && number != 0 || r != nil && (r.number != number || r.body != body || r.before != nil) {
			t.Errorf("%d is known as %+v, not at revision %d", id, r, number)
		}
	}
	before := time.Now()
	told(1, 5)
	note(1, 4, "four", before)
	is(1, 0, "")
	note(1, 5, "five", before) // which may be older by now
	is(1, 0, "")
	if !of.lacking[Ref{kind, 1}] {
		t.Error("what nobody knows is not lacking")
	}
	note(1, 5, "five", time.Now())
	is(1, 5, "five")
	note(1, 4, "four", time.Now()) // of whoever was slower to say so
	told(1, 5)
	is(1, 5, "five")
	told(1, 6)
	is(1, 0, "")
	note(1, 6, "six", time.Now())
	note(1, 7, "seven", before) // written by this store while somebody was told
	is(1, 0, "")

	random := rand.NewChaCha8([32]byte{1})
	large, body := make([]byte, largestHead+1), make([]byte, largestHead-200)
	_, _ = random.Read(large)
	note(2, 1, string(large), time.Now())
	is(2, 0, "")
	if of.lacking[Ref{kind, 2}] {
		t.Error("what is too large is read again and again")
	}
	if s.heads.note(&revision{account: account, kind: "vehicle", id: 3, number: 1}, time.Now()) ||
		s.heads.note(&revision{account: account + 1, kind: kind, id: 3, number: 1}, time.Now()) {
		t.Error("what nobody asks for is kept")
	}
	for id := uint64(10); ; id++ {
		_, _ = random.Read(body)
		if !note(id, 1, string(body), time.Now()) {
			break
		}
		if id > 2*mostHeads/largestHead {
			t.Fatal("there is room for any number")
		}
	}
	told(1, 8)
	if s.heads.bytes > mostHeads || len(of.lacking) > 0 {
		t.Errorf("%d bytes are kept, and %d more are to be read", s.heads.bytes, len(of.lacking))
	}
	followed.Lost()
	if s.heads.bytes != 0 || len(s.heads.accounts) != 0 {
		t.Errorf("%d bytes are left of %d accounts", s.heads.bytes, len(s.heads.accounts))
	}
	if accounts, _, asked := followed.Wanted(); len(accounts) > 0 || asked {
		t.Errorf("somebody wants to be told of %v", accounts)
	}

	begin()
	note(4, 1, "old", time.Now().Add(-time.Hour))
	is(4, 0, "")
	followed.Told([]uint64{account + 1}, time.Now(), nil)
	is(4, 0, "")
	followed.Told([]uint64{account}, time.Now(), nil)
	is(4, 1, "old")
	s.heads.accounts[account].asked = time.Now().Add(-headsIdle - time.Second)
	if accounts, _, _ := followed.Wanted(); len(accounts) > 0 || s.heads.bytes != 0 {
		t.Errorf("%v are wanted, and %d bytes kept, long after anybody asked", accounts, s.heads.bytes)
	}
}

// Heads are read as they follow each other in the log, those of classes and of the newest vehicles first, until nobody
// asks any more; what came to be known meanwhile is not read.
func TestHeadsAreReadInTheOrderOfTheLog(t *testing.T) {
	const account = 7
	s := &Store{}
	s.Follow("calendar", "class_calendar")
	of := &headsOf{lacking: map[Ref]bool{}, asked: time.Now()}
	s.heads.accounts[account] = of
	for id := range uint64(500) {
		of.lacking[Ref{"calendar", id}] = true
	}
	of.lacking[Ref{"class_calendar", 3}] = true
	all := s.heads.lackingOf(account, of)
	if len(all) != 501 || all[0].of.Kind != "class_calendar" {
		t.Fatalf("%d are lacking, of them first %v", len(all), all[:min(len(all), 1)])
	}
	for i, ref := range all[1:] {
		if ref.account != account || ref.of != (Ref{"calendar", uint64(499 - i)}) {
			t.Fatalf("at %d is %v", i, ref)
		}
	}
	clear(of.lacking) // all are known by now: nothing is left to read, from a store that is not there
	if err := s.readAllHeads(t.Context(), account, of, all); err != nil {
		t.Error(err)
	}
	of.lacking[Ref{"calendar", 1}] = true
	of.asked = time.Now().Add(-headsDoze - time.Second)
	if err := s.readAllHeads(t.Context(), account, of, all); err != nil || len(s.heads.lackingOf(account, of)) > 0 {
		t.Error("what nobody asks for is read")
	}
}
