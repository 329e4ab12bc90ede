//go:build !linux

package rt

import (
	"io"
	"time"
)

// flock fails outside Linux.
func flock(string, time.Duration) (io.Closer, error) { return nil, unsupported("resctrl") }
