//go:build long

package api

import (
	"log/slog"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet/api/roster"
)

// The long run asks everything through memory.
func init() { memory = wakefulRoster }

// wakefulRoster is a memory that looks at the store before each answer: what a test brings to tables by itself is there
// at once.
func wakefulRoster(t *testing.T, db driver.Conn) *roster.Roster {
	t.Helper()
	cfg := roster.DefaultConfig()
	cfg.Lag, cfg.Every, cfg.Wait = 1, 1, 30*time.Second
	r, err := roster.New(cfg, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
