package server

import (
	"strconv"
	"strings"

	"github.com/gopcua/opcua/ua"
)

// parseRange reads a one-dimensional NumericRange (Part 4, 7.27): "n" or "n:m", n < m.
func parseRange(s string) (lo, hi int, ok bool) {
	a, b, ranged := strings.Cut(s, ":")
	x, err := strconv.ParseUint(a, 10, 31)
	if err != nil {
		return 0, 0, false
	}
	if !ranged {
		return int(x), int(x), true
	}
	y, err := strconv.ParseUint(b, 10, 31)
	if err != nil || x >= y {
		return 0, 0, false
	}
	return int(x), int(y), true
}

// indexRange takes a part of an array or of a string; our values have one dimension.
func indexRange(v any, r string) (any, ua.StatusCode) {
	lo, hi, ok := parseRange(r)
	if !ok {
		return nil, ua.StatusBadIndexRangeInvalid
	}
	switch x := v.(type) {
	case []string:
		return part(x, lo, hi)
	case []uint32:
		return part(x, lo, hi)
	case []byte:
		return part(x, lo, hi)
	case string:
		p, status := part([]byte(x), lo, hi)
		if status != ua.StatusOK {
			return nil, status
		}
		return string(p.([]byte)), ua.StatusOK
	}
	return nil, ua.StatusBadIndexRangeNoData
}

func part[T any](x []T, lo, hi int) (any, ua.StatusCode) {
	if lo >= len(x) {
		return nil, ua.StatusBadIndexRangeNoData
	}
	return x[lo:min(hi+1, len(x))], ua.StatusOK
}
