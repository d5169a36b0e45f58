package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
)

// holder writes that an account has a device of a unique id, on the vehicle of the account's number, since a
// time, or had it.
func (b *bench) holder(account, revision int, uniqueID string, since fleet.Millis, more string, archived bool) {
	b.t.Helper()
	body := fmt.Sprintf(`{"unique_id":"%s","assignments":[{"vehicle_id":"veh_%d","from":null,"until":null}]%s}`,
		uniqueID, account, more)
	var end *time.Time
	if archived {
		end = new(time.Time)
		*end = time.Now()
	}
	if err := b.db.Exec(b.t.Context(),
		"INSERT INTO devices (account, id, revision, created_at, updated_at, archived_at, unique_id, body) VALUES ($1, $2, $3, $4, now64(3), $5, $6, $7)",
		uint64(account), uint64(1000+account), uint64(revision), since.Time(), end, uniqueID, body); err != nil {
		b.t.Fatal(err)
	}
	b.know()
}

// give writes that an operator gave a unique id to an account.
func (b *bench) give(account int, uniqueID string, kept bool) {
	b.t.Helper()
	if err := b.db.Exec(b.t.Context(), "INSERT INTO device_owners (unique_id, account, kept) VALUES ($1, $2, $3)",
		uniqueID, uint64(account), kept); err != nil {
		b.t.Fatal(err)
	}
	b.know()
}

func (b *bench) know() {
	b.t.Helper()
	if err := b.deps.Registry.Refresh(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// received is a batch of fixes of device 1 that Kafka got at a time; the seconds of the fixes are the offsets.
func received(at fleet.Millis, offset int64, fixes int) *consume.Batch {
	var values []string
	for i := range fixes {
		values = append(values, fixAt(1, int(offset)+i))
	}
	batch := batchOf(offset, values...)
	for i := range batch.Records {
		batch.Records[i].Time = at
	}
	return batch
}

// back handles what was released, as it comes back from its topic.
func (b *bench) back(releaser *Releaser, offset int64) {
	b.t.Helper()
	b.kept = nil
	if err := releaser.Release(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	var values []string
	for _, k := range b.kept {
		values = append(values, string(k.Report))
	}
	if len(values) == 0 {
		return
	}
	batch := batchOf(offset, values...)
	for i := range batch.Records {
		batch.Records[i].Released = true
	}
	b.handle(b.chain(), batch)
}

// has counts the positions of accounts, and what is kept apart.
func (b *bench) has(when string, thief, owner, apart int) {
	b.t.Helper()
	for query, want := range map[string]int{
		"count() FROM positions WHERE account = 7": thief, "count() FROM positions WHERE account = 8": owner,
		"count() FROM unregistered_reports FINAL": apart,
	} {
		if got := b.count(query); got != want {
			b.t.Errorf("%s: %s: %d, want %d", when, query, got, want)
		}
	}
}

// TestWhatCameBeforeIsGivenOnlyToWhomAnOperatorGaveTheTracker has account 7 register a tracker of which account
// 8 is the owner.
func TestWhatCameBeforeIsGivenOnlyToWhomAnOperatorGaveTheTracker(t *testing.T) {
	b := newBench(t)
	releaser := NewReleaser(b.deps, b)
	defer releaser.InCharge()()
	registered := begin.Add(30 * time.Minute)
	b.handle(b.chain(), received(registered-2, 0, 2))
	b.holder(7, 1, unique(1), registered, "", false)
	b.back(releaser, 100)
	b.has("registered by who asked first", 0, 0, 2)
	b.handle(b.chain(), received(registered-1, 2, 1)) // was on its way
	let := received(registered-1, 3, 1)               // through the interface, whose clock is behind
	let.Records[0].Account = 7
	b.handle(b.chain(), let)
	b.back(releaser, 110)
	b.has("from then on", 1, 0, 3)

	b.give(8, unique(1), true)
	b.handle(b.chain(), received(registered+10, 4, 1))
	b.back(releaser, 120)
	b.has("given to the owner, who has not registered it", 1, 0, 4)
	b.holder(7, 2, unique(1), registered, "", true)
	b.holder(8, 1, unique(1), registered+20, "", false)
	b.handle(b.chain(), received(registered+21, 5, 1))
	let = received(registered+22, 6, 1) // let in before, and as the other's
	let.Records[0].Account = 7
	b.handle(b.chain(), let)
	b.has("registered by the owner", 1, 1, 4)
	b.back(releaser, 130)
	b.has("with what was kept apart", 1, 5, 0)
}

// TestARenamedDeviceGetsNothingOfBefore has an account change the unique id of a device that it has had for long.
func TestARenamedDeviceGetsNothingOfBefore(t *testing.T) {
	b := newBench(t)
	releaser := NewReleaser(b.deps, b)
	defer releaser.InCharge()()
	renamed := begin.Add(30 * time.Minute)
	since := `,"unique_since":"` + renamed.Time().UTC().Format("2006-01-02T15:04:05.000Z") + `"`
	b.holder(7, 1, "its own", begin, "", false)
	b.handle(b.chain(), received(renamed-1, 0, 2))
	b.holder(7, 2, unique(1), begin, since, false)
	b.back(releaser, 100)
	b.has("renamed", 0, 0, 2)
	b.handle(b.chain(), received(renamed+1, 2, 1))
	b.has("from then on", 1, 0, 2)
	b.give(7, unique(1), true)
	b.back(releaser, 110)
	b.has("given to it by an operator", 3, 0, 0)
}

// TestATrackerThatWasGivenAwayKeepsItsHistoryBehind has an operator move a tracker without what was kept apart of it.
func TestATrackerThatWasGivenAwayKeepsItsHistoryBehind(t *testing.T) {
	b := newBench(t)
	releaser := NewReleaser(b.deps, b)
	defer releaser.InCharge()()
	moved := begin.Add(30 * time.Minute)
	b.give(7, unique(1), true)
	b.holder(7, 1, unique(1), begin, "", false)
	b.handle(b.chain(), received(moved-2, 0, 3))
	b.give(8, unique(1), false)
	b.handle(b.chain(), received(moved-1, 3, 1)) // while the operator's command is under way, or was killed
	b.holder(7, 2, unique(1), begin, "", true)
	b.holder(8, 1, unique(1), moved, "", false)
	b.handle(b.chain(), received(moved, 4, 2))
	b.back(releaser, 100)
	b.has("moved", 3, 2, 1)
}
