//go:build long

package main

import "time"

// How often a disk is filled, and for how long reads are watched when there is room again.
const (
	fillings = 10
	roomFor  = 7 * time.Second
)

// How long an erasure is waited for, until the parts that nothing reads any more are gone, too.
const (
	erasedFilesGo = 20 * time.Minute
	partsMustGo   = true
)
