package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api"
	"github.com/motorpool/fleet/api/rest"
)

type openapiCommand struct{}

func (*openapiCommand) Help() string {
	return `  motorpool openapi > openapi.json

It needs no engine and no server. What a server answers at /v1/openapi.json says besides what units=metric renames.`
}

func (openapiCommand) Run(o output) error {
	// It connects when it is first asked, which it never is.
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{"127.0.0.1:9000"}})
	if err != nil {
		return err
	}
	defer db.Close()
	config := rest.DefaultConfig()
	config.Version = version
	described, err := api.New(config, api.Deps{Deps: rest.Deps{DB: db, IDs: fleet.NewIDSource(0, time.Now),
		Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		return fmt.Errorf("describe the interface: %w", err)
	}
	return json.NewEncoder(o.out).Encode(described.OpenAPI())
}
