package bench

import (
	"testing"
	"time"
)

func TestWhatThrottlingLooksLike(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		limit     *FIFOLimit
		low, high time.Duration
	}{
		"an old result": {low: 40 * ms, high: 60 * ms},
		"none":          {limit: &FIFOLimit{By: FIFONone}},
		"bandwidth":     {&FIFOLimit{By: FIFOBandwidth, RuntimeNS: 950e6, PeriodNS: 1000e6}, 40 * ms, 60 * ms},
		"half of it":    {&FIFOLimit{By: FIFOBandwidth, RuntimeNS: 50e6, PeriodNS: 100e6}, 40 * ms, 60 * ms},
		"a tenth":       {&FIFOLimit{By: FIFOServer, RuntimeNS: 900e6, PeriodNS: 1000e6}, 80 * ms, 120 * ms},
		"unknown":       {&FIFOLimit{By: FIFOUnknown}, 40 * ms, 60 * ms},
	} {
		if low, high := c.limit.Gap(); low != c.low || high != c.high {
			t.Errorf("%s: %s to %s", name, low, high)
		}
	}
}
