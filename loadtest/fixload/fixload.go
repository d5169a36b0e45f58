// Package fixload measures fixes that are reported one by one over HTTP, by phones with their own tokens and by a
// program with an account's key, each answered when the broker has acknowledged it.
package fixload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/motorpool/fleet/loadtest/asking"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// Options say how much is measured.
type Options struct {
	Devices int
	Clients int           // at once
	For     time.Duration // that each sort of request is made
	Key     string
	Bases   []Base
}

// Base is a process that is measured.
type Base struct{ Name, URL string }

// Result is what was measured.
type Result struct {
	Options
	Sorts []asking.Sort
}

// Write prints a table in Markdown.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d devices\n\n", r.Devices)
	return asking.Table(w, r.Sorts)
}

const token = "a-token-of-all-devices"

// Run makes the devices and measures. They are as if they had been made two hours ago, and what follows from that
// carried out (record.Store.SettleConsequences looks back over an hour).
func Run(ctx context.Context, sys *system.System, o Options) (Result, error) {
	r := Result{Options: o}
	var account uint64
	if err := sys.DB.QueryRow(ctx, "SELECT max(account) FROM accounts").Scan(&account); err != nil {
		return r, err
	}
	hash := sha256.Sum256([]byte(token))
	if err := sys.DB.Exec(ctx, fmt.Sprintf(`INSERT INTO record_log
			(account, kind, id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body)
		SELECT %d, 'device', 1 + number, 1, rand64() %% 9000000000000000000 + 1, 'create', now64(3) - INTERVAL 2 HOUR, now64(3) - INTERVAL 2 HOUR, NULL,
			'loadtest', '', concat('{"unique_id":"phone-', toString(number), '","osmand_token_sha256":"%s"}') FROM numbers(%d)`,
		account, hex.EncodeToString(hash[:]), o.Devices)); err != nil {
		return r, err
	}
	if err := schemas.Fill(ctx, sys.DB, "device"); err != nil {
		return r, err
	}
	place := func(random *rand.Rand) (lat, lng float64) { return 30 + random.Float64(), -97 - random.Float64() }
	for _, sort := range []struct {
		name string
		next func(base string) asking.Request
	}{
		{"/osmand", func(base string) asking.Request {
			return func(ctx context.Context, random *rand.Rand) (*http.Request, error) {
				lat, lng := place(random)
				url := fmt.Sprintf("%s/osmand?id=phone-%d&token=%s&lat=%.6f&lon=%.6f&timestamp=%d", base,
					random.IntN(o.Devices), token, lat, lng, time.Now().UnixMilli())
				return http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			}
		}},
		{"POST /v1/positions", func(base string) asking.Request {
			return func(ctx context.Context, random *rand.Rand) (*http.Request, error) {
				lat, lng := place(random)
				body := fmt.Appendf(nil, `{"unique_id":"phone-%d","fix_at":"%s","lat":%.6f,"lng":%.6f}`,
					random.IntN(o.Devices), time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), lat, lng)
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/positions", bytes.NewReader(body))
				if err == nil {
					req.Header.Set("Authorization", "Bearer "+o.Key)
					req.Header.Set("Content-Type", "application/json")
				}
				return req, err
			}
		}},
	} {
		for _, base := range o.Bases {
			next := sort.next(base.URL)
			if _, err := asking.Measure(ctx, o.Clients, o.For/4, next); err != nil { // to get warm
				return r, fmt.Errorf("%s to %s: %w", sort.name, base.Name, err)
			}
			s, err := asking.Measure(ctx, o.Clients, o.For, next)
			if err != nil {
				return r, fmt.Errorf("%s to %s: %w", sort.name, base.Name, err)
			}
			s.Name, s.Of = sort.name, base.Name
			r.Sorts = append(r.Sorts, s)
		}
	}
	return r, nil
}
