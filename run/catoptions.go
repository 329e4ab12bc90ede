package run

import (
	"fmt"

	"opcycle/bench"
)

// The words of a cache allocation, as a suite's options have them.
const (
	catOff     = bench.CATOff
	catAuto    = bench.CATAuto
	catRequire = bench.CATRequire
)

// CATOptions ask for a cache allocation (CAT): one class of cache ways for the measured
// CPUs, one for all others that use the same cache.
type CATOptions struct {
	Mode     string // off, auto or require
	RTMask   string // auto, or hexadecimal
	RestMask string
	Level    string // auto, 3 or 2
}

// DefaultCATOptions ask for none.
func DefaultCATOptions() CATOptions { return CATOptions{catOff, catAuto, catAuto, catAuto} }

// asked is false for off and for the zero value.
func (o CATOptions) asked() bool { return o.Mode == catAuto || o.Mode == catRequire }

// Table is one line an option.
func (o *CATOptions) Table() []bench.Option {
	return []bench.Option{
		bench.WordOption("cat", &o.Mode, []string{catOff, catAuto, catRequire}, "cache allocation: off, auto (the result says if it could not be had) or require (no run without)"),
		maskOption("cat-rt-mask", &o.RTMask, "cache ways of the measured CPUs: auto (the upper half) or hexadecimal, as f0"),
		maskOption("cat-rest-mask", &o.RestMask, "cache ways of the other CPUs: auto (the lower half) or hexadecimal, as 0f"),
		bench.WordOption("cat-level", &o.Level, []string{catAuto, "3", "2"}, "cache to allocate: auto (L3, else L2), 3 or 2"),
	}
}

func maskOption(name string, v *string, usage string) bench.Option {
	o := bench.TextOption(name, v, usage)
	o.Set = func(s string) error {
		if s != catAuto {
			if _, err := parseWays(s); err != nil {
				return fmt.Errorf("%q is %w", s, err)
			}
		}
		*v = s
		return nil
	}
	return o
}
