package report

import (
	"fmt"
	"io"

	"opcycle/bench"
	"opcycle/judge"
)

// hgrmTicks is how many lines a halving of the distance to 100 % has, HdrHistogram's own
// default.
const hgrmTicks = 5

// HGRM writes the percentile distribution of every series, in µs, as HdrHistogram's tools
// and its plotter read it; each series stands under a comment with its name. Negative
// values, which these histograms can't hold, are a distribution of their own, of their
// magnitudes, and named so.
func HGRM(w io.Writer, f bench.File, _ judge.Verdict, _ []bench.Reference) error {
	for i := range f.Series {
		if err := hgrm(w, f.Suite, &f.Series[i]); err != nil {
			return err
		}
	}
	for i := range f.Suites {
		r := &f.Suites[i]
		for j := range r.Series {
			if err := hgrm(w, judge.Title(r), &r.Series[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

func hgrm(w io.Writer, suite string, s *bench.Series) error {
	pos, neg, err := s.Histograms()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s, %s %s", suite, s.Object, s.Name)
	if pos == nil && neg == nil {
		_, err := fmt.Fprintf(w, "#[%s: n/a: %s]\n", name, orNA(s.NA))
		return err
	}
	if neg != nil {
		if _, err := fmt.Fprintf(w, "#[%s: magnitudes of its %d negative values, us]\n", name, neg.TotalCount()); err != nil {
			return err
		}
		if _, err := neg.PercentilesPrint(w, hgrmTicks, 1e3); err != nil {
			return fmt.Errorf("write hgrm: %w", err)
		}
	}
	if pos == nil {
		return nil
	}
	out := ""
	if n := s.Underflow + s.Overflow; n > 0 {
		out = fmt.Sprintf("; %d value(s) beyond its range are not in it", n)
	}
	if _, err := fmt.Fprintf(w, "#[%s, us%s]\n", name, out); err != nil {
		return err
	}
	if _, err := pos.PercentilesPrint(w, hgrmTicks, 1e3); err != nil {
		return fmt.Errorf("write hgrm: %w", err)
	}
	return nil
}
