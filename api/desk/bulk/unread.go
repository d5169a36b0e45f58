package bulk

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
)

// unread is the connection of who decides in memory: there is none. Whoever asks is refused, and does the ordinary way
// what needs an answer.
type unread struct{ driver.Conn }

var errUnread = fmt.Errorf("this is not kept in memory: %w", record.ErrNotYet)

func (unread) Select(context.Context, any, string, ...any) error { return errUnread }

func (unread) Query(context.Context, string, ...any) (driver.Rows, error) { return nil, errUnread }

func (unread) QueryRow(context.Context, string, ...any) driver.Row { return unreadRow{} }

func (unread) PrepareBatch(context.Context, string, ...driver.PrepareBatchOption) (driver.Batch, error) {
	return nil, errUnread
}

func (unread) Exec(context.Context, string, ...any) error { return errUnread }

type unreadRow struct{}

func (unreadRow) Err() error           { return errUnread }
func (unreadRow) Scan(...any) error    { return errUnread }
func (unreadRow) ScanStruct(any) error { return errUnread }
