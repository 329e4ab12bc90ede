//go:build !linux

package rt

import "time"

// CoreRatio is Linux's alone.
func CoreRatio(time.Duration) (float64, error) { return 0, unsupported("perf_event_open") }
