package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAtMostCountsWhatDoesNotExceedABound(t *testing.T) {
	tests := []struct {
		name   string
		values []int64
		bounds []int64
		want   []int64
	}{
		{"nothing yet", nil, []int64{0, 10}, []int64{0, 0}},
		{"on the bound is inside", []int64{5, 10, 11}, []int64{5, 10, 11}, []int64{1, 2, 3}},
		{"negative values", []int64{-20, -3, 0, 7}, []int64{-10, -3, 0, 7}, []int64{1, 2, 3, 4}},
		{"beyond the histogram", []int64{-histogramMax - 1, 1, histogramMax + 1}, []int64{-5, 0, 2, histogramMax}, []int64{1, 1, 2, 2}},
		{"a bucket counts at its upper edge", []int64{1_000_000}, []int64{999_000, 1_000_000, 1_001_000}, []int64{0, 0, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSeries()
			for k, v := range tt.values {
				s.Add(int64(k), v)
			}
			if diff := cmp.Diff(tt.want, s.AtMost(tt.bounds)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
