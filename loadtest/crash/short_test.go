//go:build !long

package crash

// How much is asked of the crash test.
const kills, fixes = 6, 14_000
