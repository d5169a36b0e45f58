package query

import "github.com/ClickHouse/clickhouse-go/v2/lib/driver"

// Watched is what the driver's watch over a batch looks at.
func Watched(b driver.Batch) <-chan struct{} { return b.(batch).ctx.Done() }
