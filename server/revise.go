package server

import (
	"math"
	"time"
)

// What the server makes of requested values. Illegal values are revised, never rejected
// (Part 4, 5.14.2.2, https://reference.opcfoundation.org/Core/Part4/v105/docs/5.14.2).
const (
	// maxInterval bounds publishing and sampling intervals.
	maxInterval = time.Hour
	// maxQueueSize bounds the queue of one monitored item.
	maxQueueSize = 10000
	// defaultKeepAlive is the MaxKeepAliveCount for a requested 0.
	defaultKeepAlive = 10
	maxKeepAlive     = 1_000_000
	maxLifetime      = 10_000_000
	// The session timeout's bounds (Part 4, 5.7.2.2); a requested 0 takes the minimum's
	// place of "no preference".
	minSessionTimeout     = time.Second
	maxSessionTimeout     = time.Hour
	defaultSessionTimeout = time.Minute
)

// milliseconds is d as the Duration of Part 3.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ticksOf returns how many cycles of T an interval in ms means: at least 1, by ceiling, at
// most maxInterval; NaN and what is not above 0 mean the fastest. An interval within a
// millionth of a multiple is that multiple: 0.3 ms over T = 100 µs is 3, not 4.
func ticksOf(ms float64, t time.Duration) int64 {
	most := max(int64(maxInterval/t), 1)
	if math.IsNaN(ms) || ms <= 0 {
		return 1
	}
	n := ms / milliseconds(t)
	if n >= float64(most) {
		return most
	}
	return max(int64(math.Ceil(n*(1-1e-6))), 1)
}

// intervalOf is n cycles in ms.
func intervalOf(n int64, t time.Duration) float64 { return milliseconds(time.Duration(n) * t) }

// reviseCounts returns MaxKeepAliveCount and LifetimeCount: the lifetime is at least three
// times the keep-alive count (Part 4, 5.14.2.2).
func reviseCounts(lifetime, keepAlive uint32) (uint32, uint32) {
	if keepAlive == 0 {
		keepAlive = defaultKeepAlive
	}
	keepAlive = min(keepAlive, maxKeepAlive)
	return min(max(lifetime, 3*keepAlive), maxLifetime), keepAlive
}

// reviseQueue returns the queue size: 0 and 1 mean 1 (Part 4, 7.21).
func reviseQueue(requested uint32, most int) int {
	return int(min(max(requested, 1), uint32(most)))
}

// reviseTimeout returns the session timeout of a request in ms.
func reviseTimeout(ms float64) time.Duration {
	switch {
	case math.IsNaN(ms) || ms <= 0:
		return defaultSessionTimeout
	case ms >= milliseconds(maxSessionTimeout):
		return maxSessionTimeout
	}
	return max(time.Duration(ms*float64(time.Millisecond)), minSessionTimeout)
}
