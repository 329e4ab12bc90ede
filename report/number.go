package report

import (
	"fmt"
	"math"
	"strconv"

	"opcycle/judge"
)

// micros writes ns in µs with so many decimals, rounded half away from zero.
func micros(ns float64, decimals int) string {
	scale := math.Pow(10, float64(decimals))
	v := math.Round(ns/1e3*scale) / scale
	if v == 0 {
		v = 0 // never "-0"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// signed puts a plus before what is not negative: a difference always shows its sign.
func signed(s string) string {
	if s[0] == '-' {
		return s
	}
	return "+" + s
}

// share writes v of whole in per cent. Neither a rest nor a whole is rounded away: 5999
// of 6000 is never "100 %", and 1 of a million never "0 %".
func share(v, whole float64) string {
	if whole <= 0 {
		return ""
	}
	p := v / whole * 100
	switch {
	case v == 0:
		return "0 %"
	case v == whole:
		return "100 %"
	case p < 0.001:
		return "< 0.001 %"
	case p > 99.999:
		return "> 99.999 %"
	}
	return strconv.FormatFloat(p, 'f', 3, 64) + " %"
}

// figure writes a value with its unit.
func figure(v float64, unit string) string {
	switch unit {
	case "ns":
		return micros(v, 1) + " µs"
	case "1":
		if v == math.Trunc(v) {
			return judge.Group(int64(v))
		}
		return strconv.FormatFloat(v, 'f', 3, 64)
	case "ratio":
		return fmt.Sprintf("%.2f", v)
	}
	return strconv.FormatFloat(v, 'g', -1, 64) + " " + unit
}

// found writes a figure, or n/a with its reason.
func found(f judge.Found) string {
	if !f.OK {
		return "n/a: " + f.NA
	}
	return figure(f.Value, f.Unit)
}

// round1 rounds to one decimal, half away from zero.
func round1(v float64) float64 { return math.Round(v*10) / 10 }
