package lmbench

import (
	"math"
	"strings"
	"testing"
)

func samples(each ...float64) sample { return sample{each: each, batch: 7} }

func TestReading(t *testing.T) {
	odd := samples(3000, 1000, 2000)
	for name, c := range map[string]struct {
		s         sample
		statistic string
		unit      string
		want      float64
	}{
		"median of an odd number":  {odd, median, micros, 2},
		"median of an even number": {samples(4000, 1000, 2000, 3000), median, micros, 2.5},
		"minimum":                  {odd, minimum, nanos, 1000},
		"mean":                     {samples(1000, 1000, 4000), mean, micros, 2},
		"bandwidth":                {sample{each: []float64{1000}, bytes: 5000}, median, megabytes, 5000},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.s.reading("m", c.statistic, c.unit)
			if r.Value == nil || math.Abs(*r.Value-c.want) > 1e-9 {
				t.Fatalf("the value is %v, not %v: %s", r.Value, c.want, r.NA)
			}
			if r.N != int64(len(c.s.each)) || r.Batch != c.s.batch || r.Mechanism != "m" || r.Statistic != c.statistic || r.Unit != c.unit {
				t.Errorf("the reading is %+v", r)
			}
			if *r.Min > *r.Median || *r.Median > *r.Max || *r.Mean < *r.Min || *r.Mean > *r.Max {
				t.Errorf("out of order: %v %v %v %v", *r.Min, *r.Median, *r.Mean, *r.Max)
			}
		})
	}
	one := samples(5).reading("m", median, nanos)
	if one.StdDev != nil {
		t.Errorf("the standard deviation of one repetition is %v", *one.StdDev)
	}
	if r := samples(2, 4).reading("m", median, nanos); *r.StdDev != math.Sqrt2 {
		t.Errorf("the standard deviation of 2 and 4 is %v", *r.StdDev)
	}
}

func TestReadingWithoutANumber(t *testing.T) {
	for name, c := range map[string]struct {
		s    sample
		unit string
		want string
	}{
		"no repetition":         {sample{}, micros, "no repetition"},
		"nothing left":          {samples(0, 0, 0), micros, "within the noise"},
		"less than nothing":     {samples(-3, -2, -1), micros, "within the noise"},
		"bandwidth of no bytes": {samples(5), megabytes, "0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.s.reading("m", median, c.unit)
			if r.Value != nil || !strings.Contains(r.NA, c.want) {
				t.Errorf("the value is %v, n/a: %q", r.Value, r.NA)
			}
		})
	}
}

func TestUnstable(t *testing.T) {
	for name, c := range map[string]struct {
		each      []float64
		statistic string
		want      bool
	}{
		"all the same":                       {[]float64{10, 10, 10, 10, 10}, median, false},
		"one outlier":                        {[]float64{10, 10, 10, 10, 900}, median, false},
		"the middle half spreads":            {[]float64{10, 10, 14, 20, 20}, median, true},
		"minimum that others come near":      {[]float64{10, 10, 900, 900, 900}, minimum, false},
		"minimum that no other comes near":   {[]float64{10, 90, 90, 90, 90}, minimum, true},
		"just below a quarter of the median": {[]float64{90, 90, 100, 114, 114}, median, false},
	} {
		t.Run(name, func(t *testing.T) {
			if r := samples(c.each...).reading("m", c.statistic, nanos); (r.Unstable != "") != c.want {
				t.Errorf("unstable: %q", r.Unstable)
			}
		})
	}
}

// The median of a difference is the difference of the medians, whatever the order of the
// repetitions.
func TestLess(t *testing.T) {
	d := samples(9, 30, 12).less(samples(8, 1, 2))
	if got := d.median(); got != 12-2 {
		t.Errorf("the median is %v", got)
	}
	if got := *d.reading("m", median, nanos).Min; got != 9-1 {
		t.Errorf("the minimum is %v", got)
	}
	if got := meanOf(samples(1, 3), samples(4, 2)).median(); got != 2.5 {
		t.Errorf("the mean's median is %v", got)
	}
	if got := samples(8, 16).per(4).median(); got != 3 {
		t.Errorf("a quarter's median is %v", got)
	}
}

func TestNotLinear(t *testing.T) {
	s := samples(100, 110, 120)
	for half, want := range map[float64]bool{0: false, 100: false, 114: false, 118: false, 130: true, 80: true} {
		s.half = half
		if r := s.reading("m", median, nanos); strings.Contains(r.Deviation, "not linear") != want {
			t.Errorf("half an interval at %v: %q", half, r.Deviation)
		}
	}
}
