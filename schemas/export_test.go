package schemas

// ApplyOne is for tests of a process that is behind another.
var ApplyOne = applyOne
