//go:build !linux

package embedded

import "errors"

// SyncTokens is for Linux alone: elsewhere a batch may be stored twice after a power cut.
func SyncTokens(string) error { return errors.ErrUnsupported }
