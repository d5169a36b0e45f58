//go:build !long

package main

import "time"

// How often a disk is filled, and for how long reads are watched when there is room again.
const (
	fillings = 1
	roomFor  = 2 * time.Second
)

// How long an erasure is waited for; parts that nothing reads any more may still be there.
const (
	erasedFilesGo = time.Minute
	partsMustGo   = false
)
