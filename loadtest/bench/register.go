package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
)

const account = "bench"

// client speaks to the interface of a system.
type client struct {
	base, key string
}

// connect makes the account and a key, and waits for the interface to answer.
func connect(ctx context.Context, s *system.System) (*client, error) {
	key, err := s.Output("key", "create", "--account", account, "--scopes", "admin")
	if err != nil {
		return nil, err
	}
	c := &client{base: s.URL(), key: key}
	return c, await(ctx, pollEvery, func() (bool, error) {
		return c.do(ctx, http.MethodGet, "/v1/account", nil, nil) == nil, nil
	})
}

// do makes a request and decodes the answer's JSON into reply, if there is one. When it has asked more than its key
// may, it waits as it is told to.
func (c *client) do(ctx context.Context, method, path string, body, reply any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for {
		answer, wait, err := c.ask(ctx, method, path, text)
		switch {
		case err != nil || wait == 0 && reply == nil:
			return err
		case wait == 0:
			return json.Unmarshal(answer, reply)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// ask makes a request once and returns its answer, or for how long to wait before it is made again.
func (c *client) ask(ctx context.Context, method, path string,
	body []byte) (answer []byte, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		return nil, 0, err
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	switch {
	case response.StatusCode == http.StatusTooManyRequests && seconds > 0:
		return nil, time.Duration(seconds) * time.Second, nil
	case response.StatusCode/100 != 2:
		return nil, 0, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, strings.TrimSpace(string(answer)))
	}
	return answer, 0, nil
}

// register makes a vehicle and a device for each vehicle of a simulated fleet and returns the vehicles' ids.
func (c *client) register(ctx context.Context, vehicles int) ([]string, error) {
	ids := make([]string, vehicles)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(4)
	for i := range vehicles {
		work.Go(func() error {
			var vehicle, device struct{ ID string }
			if err := c.do(ctx, http.MethodPost, "/v1/vehicles",
				map[string]any{"make": "Bench", "model": "Mark I", "year": 2026}, &vehicle); err != nil {
				return err
			}
			if err := c.do(ctx, http.MethodPost, "/v1/devices",
				map[string]any{"unique_id": sim.UniqueID(i), "name": sim.UniqueID(i)}, &device); err != nil {
				return err
			}
			ids[i] = vehicle.ID
			// Since ever: the simulated fleet drives in the past.
			return c.do(ctx, http.MethodPost, "/v1/devices/"+device.ID+"/assign",
				map[string]any{"vehicle_id": vehicle.ID, "from": "2000-01-01T00:00:00Z"}, nil)
		})
	}
	return ids, work.Wait()
}
