//go:build !long

package api

// hostileEach is how many calls of each sort TestHostileInputIsAnswered makes of an operation, as a stranger and as
// the owner.
var hostileEach = [2]int{1, 3}

const hostileSeed = 1
