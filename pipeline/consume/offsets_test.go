package consume

import (
	"slices"
	"sync/atomic"
	"testing"
)

// TestAGroupThatHoldsStillBeginsNothing: while it holds still no range is planned, one that was planned before is
// finished all the same, and where it stands can be read and set.
func TestAGroupThatHoldsStillBeginsNothing(t *testing.T) {
	p := newProcess(t, startBroker(t).ListenAddrs()[0])
	topic := createTopic(t, p.client, 2)
	var held atomic.Bool
	cfg := testConfig(t)
	cfg.Held = held.Load
	done := newLedger()
	r := start(t, cfg, p, []string{topic}, done.handler)
	produce(t, p.client, topic, 0, numbered("a", 5)...)
	done.await(t, 5)

	held.Store(true)
	produce(t, p.client, topic, 0, numbered("b", 4)...)
	produce(t, p.client, topic, 1, numbered("c", 3)...)
	eventually(t, "the records are fetched", func() bool { return r.metric(t, "lag") == 7 })
	standing := func() []Standing {
		t.Helper()
		all, err := Standings(t.Context(), p.client, cfg.Group, topic)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got, want := standing(), []Standing{{topic, 0, 5, false}, {topic, 1, -1, false}}; !slices.Equal(got, want) {
		t.Errorf("the group that holds still stands at %v, want %v", got, want)
	}
	held.Store(false)
	done.await(t, 12)
	r.stop()
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	set := []Standing{{topic, 0, 2, false}, {topic, 1, 1, false}}
	admin := newProcess(t, p.client.Addr.String())
	eventually(t, "the group has no members", func() bool {
		return SetStandings(t.Context(), admin.client, cfg.Group, set, topic) == nil
	})
	if got, err := Standings(t.Context(), admin.client, cfg.Group, topic); err != nil || !slices.Equal(got, set) {
		t.Errorf("after it was set the group stands at %v, %v", got, err)
	}
	for name, told := range map[string][]Standing{"nothing": {set[0]},
		"that nothing was committed": {set[0], {topic, 1, -1, false}}} {
		if err := SetStandings(t.Context(), admin.client, cfg.Group, set, topic); err != nil {
			t.Fatal(err)
		}
		if err := SetStandings(t.Context(), admin.client, cfg.Group, told, topic); err != nil {
			t.Fatal(err)
		}
		got, err := Standings(t.Context(), admin.client, cfg.Group, topic)
		if want := []Standing{set[0], {topic, 1, 0, false}}; err != nil || !slices.Equal(got, want) {
			t.Errorf("told %s of a partition, the group stands at %v, want the log's start: %v", name, got, err)
		}
	}
	if err := SetStandings(t.Context(), admin.client, cfg.Group, set, topic); err != nil {
		t.Fatal(err)
	}
	commitAs(t, admin.client, cfg.Group, topic, 2, "plan:1:3")
	if got, err := Standings(t.Context(), admin.client, cfg.Group, topic); err != nil || !got[0].Planned {
		t.Errorf("a plan is not told: %v, %v", got, err)
	}

	held.Store(true)
	left := newLedger()
	again := start(t, cfg, newProcess(t, p.client.Addr.String()), []string{topic}, left.handler)
	left.await(t, 2)
	eventually(t, "the planned range is finished, and no other begun", func() bool {
		got, err := Standings(t.Context(), admin.client, cfg.Group, topic)
		return err == nil && slices.Equal(got, []Standing{{topic, 0, 4, false}, {topic, 1, 1, false}})
	})
	again.stop()
	if err := again.wait(t); err != nil {
		t.Fatal(err)
	}
	if n := left.records(); n != 2 {
		t.Errorf("%d records were handled by a group that holds still, want the 2 of the planned range", n)
	}
}

// TestAGroupThatNobodyWasInIsSetWhereItIsTold: so it is after a restore, where the log begins in front of
// what was read.
func TestAGroupThatNobodyWasInIsSetWhereItIsTold(t *testing.T) {
	p := newProcess(t, startBroker(t).ListenAddrs()[0])
	topic := createTopic(t, p.client, 2)
	produce(t, p.client, topic, 0, numbered("a", 5)...)
	const group = "nobody-was-in-it"
	if got, err := Standings(t.Context(), p.client, group, topic); err != nil ||
		!slices.Equal(got, []Standing{{topic, 0, -1, false}, {topic, 1, -1, false}}) {
		t.Errorf("a group that nobody was in stands at %v, %v", got, err)
	}
	set := []Standing{{topic, 0, 5, false}, {topic, 1, 0, false}}
	if err := SetStandings(t.Context(), p.client, group, set, topic); err != nil {
		t.Fatal(err)
	}
	if got, err := Standings(t.Context(), p.client, group, topic); err != nil || !slices.Equal(got, set) {
		t.Errorf("after it was set the group stands at %v, %v", got, err)
	}
}
