// Package query reads what is stored in ClickHouse: a file per subject, each giving plain structs and domain types.
// It also owns what every reader and writer needs first: Open, the one place that opens a connection pool.
//
// Every function takes the account it may look at and blocks until the answer is there or its context ends. Errors
// are wrapped once with what was being read; a thing that does not exist is an empty answer, never an error.
package query
