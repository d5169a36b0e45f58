package schemas_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// TestABatchIsKnownAgainInAWindowThatWasWidened: without it the first of five blocks is forgotten with the sixth.
func TestABatchIsKnownAgainInAWindowThatWasWidened(t *testing.T) {
	db := schematest.Open(t)
	if err := db.Exec(t.Context(),
		"ALTER TABLE dead_letters MODIFY SETTING non_replicated_deduplication_window = 5"); err != nil {
		t.Fatal(err)
	}
	insert := func(n int) {
		ctx := clickhouse.Context(t.Context(),
			clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": fmt.Sprint("token", n)}))
		if err := db.Exec(ctx, "INSERT INTO dead_letters (id, at) SELECT rand64(), now64(3)"); err != nil {
			t.Fatal(err)
		}
	}
	insert(0)
	if widened, err := schemas.Widen(t.Context(), db, 12); err != nil || !slices.Equal(widened, []string{"dead_letters"}) {
		t.Fatalf("%v, %v", widened, err)
	}
	if again, err := schemas.Widen(t.Context(), db, 12); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
	for n := range 10 {
		insert(n)
	}
	insert(0)
	var rows uint64
	if err := db.QueryRow(t.Context(), "SELECT count() FROM dead_letters").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != 10 {
		t.Errorf("%d rows of 10 inserts and 2 repetitions", rows)
	}
}

func TestTheWindowGrowsWithThePartitions(t *testing.T) {
	for partitions, want := range map[int]uint64{0: 10_000, 1: 10_000, 12: 50_400, 144: 604_800, 1000: 1_000_000} {
		if got := schemas.Window(partitions); got != want {
			t.Errorf("%d blocks for %d partitions, want %d", got, partitions, want)
		}
	}
}

// TestEveryTableOfIngestHasTheWindow: a token is known again in the tables that views fill only if all of
// them remember it.
func TestEveryTableOfIngestHasTheWindow(t *testing.T) {
	db := schematest.Open(t)
	widened, err := schemas.Widen(t.Context(), db, schemas.Window(1000))
	if err != nil {
		t.Fatal(err)
	}
	feed := regexp.MustCompile(`MATERIALIZED VIEW IF NOT EXISTS \w+ TO (\w+)[\s\S]* FROM (\w+)`)
	for _, m := range schemas.Migrations() {
		if found := feed.FindStringSubmatch(m.SQL); found != nil && slices.Contains(widened, found[2]) &&
			!slices.Contains(widened, found[1]) {
			t.Errorf("%s: %s has a window that %s has not", m.Version, found[2], found[1])
		}
	}
}
