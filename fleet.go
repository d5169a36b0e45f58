// Package fleet holds the vocabulary of Motorpool: identities, positions, telemetry signals, units and errors.
//
// It imports the standard library only, and everything else imports it. Inside the system quantities are SI (metres,
// metres per second, seconds), times are UTC milliseconds and directions are degrees from true north; other units
// exist at the edges, and their conversions stand in units.go; a position has one stored form, which stands in
// stored.go with its columns. Encodings are elsewhere: topic records belong to pipeline/codec, other stored rows to
// pipeline/sink and query, JSON resources to api.
package fleet
