package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Group writes a whole number with commas between thousands.
func Group(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// Span writes a duration in the unit a person would choose, to two digits beyond the
// first unit: "60 s", "8.3 h", "150 µs".
func Span(d time.Duration) string {
	v, sign := float64(d), ""
	if v < 0 {
		v, sign = -v, "-"
	}
	units := []struct {
		name  string
		ns    float64
		until float64
	}{{"ns", 1, 1e3}, {"µs", 1e3, 1e6}, {"ms", 1e6, 1e9}, {"s", 1e9, 120e9}, {"min", 60e9, 7200e9}, {"h", 3600e9, 72 * 3600e9}}
	for _, u := range units {
		if v < u.until {
			return sign + digits(v/u.ns) + " " + u.name
		}
	}
	return sign + digits(v/(24*3600e9)) + " days"
}

// digits keeps whole numbers from 10 on and one decimal below.
func digits(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return Group(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.1f", v)
}

// oneIn writes probability p as "1 in N", N rounded down to three digits so that the
// claim stays true.
func oneIn(p float64) string {
	n := math.Floor(1/p + 1e-9)
	if n >= 1000 {
		step := math.Pow(10, math.Floor(math.Log10(n))-2)
		n = math.Floor(n/step+1e-9) * step
	}
	return "1 in " + Group(int64(n))
}
