package rest

import (
	"encoding/json"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// FromStored makes a record of a row of its current table.
func FromStored[T any](account fleet.AccountID, s query.Stored) (record.Record[T], error) {
	rec := record.Record[T]{Account: account, ID: s.ID, Revision: s.Revision, CreatedAt: s.CreatedAt.UTC(),
		UpdatedAt: s.UpdatedAt.UTC()}
	if s.ArchivedAt != nil {
		rec.ArchivedAt = s.ArchivedAt.UTC()
	}
	if err := json.Unmarshal([]byte(s.Body), &rec.Body); err != nil {
		return rec, fmt.Errorf("decode record %d: %w", s.ID, err)
	}
	return rec, nil
}

// storedRecords makes records of rows of their current table.
func storedRecords[T any](account fleet.AccountID, stored []query.Stored) ([]record.Record[T], error) {
	records := make([]record.Record[T], len(stored))
	for i := range stored {
		var err error
		if records[i], err = FromStored[T](account, stored[i]); err != nil {
			return nil, err
		}
	}
	return records, nil
}
