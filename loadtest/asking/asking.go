// Package asking makes the same sort of request again and again by many clients that keep their connections, and says
// how many were answered and how long each took.
package asking

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Sort is one sort of request to one process.
type Sort struct {
	Name, Of  string
	Clients   int // at once
	N         int
	PerSecond float64
	P50, P99  time.Duration
	Max       time.Duration
}

// Table prints what was measured in Markdown.
func Table(w io.Writer, sorts []Sort) error {
	fmt.Fprint(w, "| request | of | clients | a second | p50 | p99 | max |\n|---|---|---|---|---|---|---|\n")
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, s := range sorts {
		if _, err := fmt.Fprintf(w, "| %s | %s | %d | %.0f | %.1f ms | %.1f ms | %.1f ms |\n", s.Name, s.Of, s.Clients,
			s.PerSecond, ms(s.P50), ms(s.P99), ms(s.Max)); err != nil {
			return err
		}
	}
	return nil
}

// Request makes the next request of a client. Its body, if it has one, is read by Do.
type Request func(ctx context.Context, random *rand.Rand) (*http.Request, error)

// Measure has clients make requests for a while.
func Measure(ctx context.Context, clients int, long time.Duration, next Request) (Sort, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	begun := time.Now()
	var work sync.WaitGroup
	for n := range clients {
		random := rand.New(rand.NewPCG(42, uint64(n)))
		work.Go(func() {
			var mine []time.Duration
			var err error
			for err == nil && time.Since(begun) < long {
				at := time.Now()
				err = do(ctx, client, random, next)
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, mine...); err != nil {
				failed = err
			}
		})
	}
	work.Wait()
	all := time.Since(begun)
	slices.Sort(took)
	return Sort{Clients: clients, N: len(took), PerSecond: float64(len(took)) / all.Seconds(), P50: took[len(took)/2],
		P99: took[len(took)*99/100], Max: took[len(took)-1]}, failed
}

func do(ctx context.Context, client *http.Client, random *rand.Rand, next Request) error {
	req, err := next(ctx, random)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %s %s", req.URL.Path, res.Status, body)
	}
	return err
}
