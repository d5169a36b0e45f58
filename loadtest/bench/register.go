package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

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

// do makes a request and decodes the answer's JSON into reply, if there is one.
func (c *client) do(ctx context.Context, method, path string, body, reply any) error {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, strings.TrimSpace(string(text)))
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(text, reply)
}

// register makes a vehicle and a device for each vehicle of a simulated fleet and returns the vehicles' ids.
func (c *client) register(ctx context.Context, vehicles int) ([]string, error) {
	ids := make([]string, vehicles)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(4)
	for i := range vehicles {
		work.Go(func() error {
			var vehicle, device struct{ ID string }
			if err := c.do(ctx, http.MethodPost, "/v1/vehicles", map[string]any{"make": "Bench", "model": "Mark I", "year": 2026}, &vehicle); err != nil {
				return err
			}
			if err := c.do(ctx, http.MethodPost, "/v1/devices", map[string]any{"unique_id": sim.UniqueID(i), "name": sim.UniqueID(i)}, &device); err != nil {
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
