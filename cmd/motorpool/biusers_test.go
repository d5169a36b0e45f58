package main

import (
	"testing"
	"time"
)

// Whoever takes the name of a user that was removed does not come in as that user, whose account the engine shows by
// that name until its next start.
func TestANameThatWasTakenAgainDoesNotComeIn(t *testing.T) {
	s := &settings{Data: t.TempDir()}
	s.DB.Database = "motorpool"
	made := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	write := func(all ...biUser) {
		t.Helper()
		if err := changeBIUsers(s.Data, func([]biUser) ([]biUser, error) { return all, nil }); err != nil {
			t.Fatal(err)
		}
	}
	first := biUser{Name: "bi_analyst", Account: "acc_7", SHA256: "aa", CreatedAt: made}
	write(first)
	g, err := newBIGate(s)
	if err != nil {
		t.Fatal(err)
	}
	again := first
	again.CreatedAt = made.Add(time.Hour)
	rotated := first
	rotated.SHA256 = "bb"
	for what, c := range map[string]struct {
		user biUser
		in   bool
	}{
		"the user":                       {first, true},
		"with another password":          {rotated, true},
		"of another account":             {biUser{"bi_analyst", "acc_8", "cc", made.Add(time.Hour), time.Time{}}, false},
		"of another, at the same second": {biUser{"bi_analyst", "acc_8", "cc", made, time.Time{}}, false},
		"of the account, made again":     {again, false},
		"by another name":                {biUser{"bi_new", "acc_7", "dd", made, time.Time{}}, false},
	} {
		write(c.user)
		guest, ok, err := g.guest(c.user.Name)
		if err != nil || !ok || guest.SHA256 != c.user.SHA256 || (guest.Engine != "") != c.in {
			t.Errorf("%s: %+v, %v, %v", what, guest, ok, err)
		}
	}
	write()
	if _, ok, err := g.guest("bi_analyst"); ok || err != nil {
		t.Errorf("who was removed is a guest: %v", err)
	}
	b := &biStore{data: s.Data}
	if err := b.change("bi_analyst", nil); err == nil {
		t.Error("who is gone was removed once more")
	}
	if err := isNew([]biUser{first}, "bi_analyst"); err == nil {
		t.Error("a name is given twice")
	}
}
