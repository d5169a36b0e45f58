package geocode

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet/schemas"
)

// Addresses are saved in batches, because each insert makes a part. What a crash loses is asked for again.
const (
	saveAt    = 50
	saveEvery = 30 * time.Second
)

// load returns the addresses of those cells that a provider has been asked for before.
func load(ctx context.Context, db driver.Conn, provider string, cells []h3.Cell) (map[h3.Cell]string, error) {
	keys := make([]uint64, len(cells))
	for i, cell := range cells {
		keys[i] = uint64(cell)
	}
	found := make(map[h3.Cell]string)
	err := schemas.EachRow(ctx, db, "read addresses", schemas.Query("addresses"), []any{
		clickhouse.Named("provider", provider), clickhouse.Named("cells", keys),
	}, func(row schemas.Row) error {
		var cell uint64
		var address string
		if err := row.Scan(&cell, &address); err != nil {
			return err
		}
		found[h3.Cell(cell)] = address
		return nil
	})
	return found, err
}

// save writes what is unsaved; after a failure it stays unsaved, up to ten batches of it.
func (o *Online) save(ctx context.Context) {
	if len(o.unsaved) == 0 {
		return
	}
	if err := o.insert(ctx); err != nil {
		o.log.WarnContext(ctx, "addresses cannot be saved", "error", err)
		if len(o.unsaved) > 10*saveAt {
			o.unsaved = nil
		}
		return
	}
	o.unsaved = nil
}

func (o *Online) insert(ctx context.Context) error {
	batch, err := o.db.PrepareBatch(ctx, "INSERT INTO addresses (provider, cell, at, address)")
	if err != nil {
		return fmt.Errorf("insert addresses: %w", err)
	}
	defer batch.Close()
	for _, s := range o.unsaved {
		if err := batch.Append(o.cfg.Provider, uint64(s.cell), s.at, s.address); err != nil {
			return fmt.Errorf("insert addresses: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert addresses: %w", err)
	}
	return nil
}

// saveLast saves when the context of Run has ended already.
func (o *Online) saveLast() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	o.save(ctx)
}
