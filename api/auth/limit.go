package auth

// Class groups operations that share a rate limit.
type Class string

// The classes.
const (
	Read   Class = "read"
	Write  Class = "write"
	Ingest Class = "ingest"
)
