//go:build !linux

package bench

import "errors"

// forget is known for Linux only.
func forget(string) error { return errors.ErrUnsupported }
