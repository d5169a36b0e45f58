package main

import (
	"fmt"
	"runtime"
)

type versionCommand struct{}

func (versionCommand) Run(o output) error {
	_, err := fmt.Fprintf(o.out, "motorpool %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
