package rest

import "github.com/motorpool/fleet/api/record"

// Stamps are the last members of every record.
type Stamps struct {
	CreatedAt  record.Instant `json:"created_at"`
	UpdatedAt  record.Instant `json:"updated_at"`
	ArchivedAt record.Instant `json:"archived_at" doc:"Null while the record is in use."`
	Revision   uint64         `json:"revision" doc:"Counts the changes of the record; the number in its ETag."`
}

// StampsOf returns the stamps of a record.
func StampsOf[T any](r record.Record[T]) Stamps {
	return Stamps{CreatedAt: record.InstantOf(r.CreatedAt), UpdatedAt: record.InstantOf(r.UpdatedAt),
		ArchivedAt: record.InstantOf(r.ArchivedAt), Revision: r.Revision}
}
