package bench

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histograms are the series' values from 0 on, and the negated values below 0; nil where
// there are none. Values are in s.Unit, each the upper edge of its bucket. An export that
// can't be read is an error: the result was changed by hand, or by another program.
func (s *Series) Histograms() (positive, negative *hdrhistogram.Histogram, err error) {
	if positive, err = importHistogram(s.Positive); err != nil {
		return nil, nil, fmt.Errorf("series %s: its histogram: %w", s.Name, err)
	}
	if negative, err = importHistogram(s.Negative); err != nil {
		return nil, nil, fmt.Errorf("series %s: its histogram of negative values: %w", s.Name, err)
	}
	return positive, negative, nil
}

// histogramMax is the largest export that is decoded, in bytes: a result's are some 10 kB.
const histogramMax = 1 << 20

func importHistogram(export string) (h *hdrhistogram.Histogram, err error) {
	if export == "" {
		return nil, nil
	}
	if len(export) > histogramMax {
		return nil, fmt.Errorf("%d bytes, at most %d", len(export), histogramMax)
	}
	defer func() { // the library indexes what it read before it checks it
		if r := recover(); r != nil {
			h, err = nil, fmt.Errorf("not an HdrHistogram V2 export: %v", r)
		}
	}()
	h, err = hdrhistogram.Decode([]byte(export))
	if err != nil {
		return nil, fmt.Errorf("not an HdrHistogram V2 export: %w", err)
	}
	return h, nil
}
