// Package fleet holds the vocabulary of Motorpool: identities, positions, telemetry signals, units and errors.
//
// It imports the standard library only, and everything else imports it. Inside the system quantities are SI (metres,
// metres per second, seconds), times are UTC milliseconds and directions are degrees from true north; other units
// exist at the edges, and their conversions stand in units.go. The types carry no tags of any encoding: topic records
// belong to pipeline/codec, stored rows to pipeline/sink and query, JSON resources to api.
package fleet
