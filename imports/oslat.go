package imports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// oslatFile is the JSON of rt-tests' oslat; times are in µs, duration in s.
type oslatFile struct {
	Version int                    `json:"file_version"`
	Start   string                 `json:"start_time"`
	End     string                 `json:"end_time"`
	Threads int                    `json:"num_threads"`
	Of      map[string]oslatThread `json:"thread"`
}

type oslatThread struct {
	CPU       *int             `json:"cpu"`
	Min       *float64         `json:"min"`
	Avg       *float64         `json:"avg"`
	Max       *float64         `json:"max"`
	Duration  *float64         `json:"duration"`
	Histogram map[string]int64 `json:"histogram"`
}

// Oslat reads what "oslat --json FILE" of rt-tests writes, as a result of the suite oslat.
// Its histogram is of whole µs, each the upper bound of what it counts; the last bucket
// gathers everything above, so quantiles that fall into it are only "at least". What it does
// not say (sum of squares, times of the gaps) is n/a.
func Oslat(name string, data []byte) (bench.SuiteResult, error) {
	out := bench.SuiteResult{Suite: "oslat", Role: bench.RoleMeasured, Complete: true}
	var f oslatFile
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&f); err != nil {
		return out, fmt.Errorf("%s: %w", name, jsonError(data, err))
	}
	if f.Version != 1 {
		return out, fmt.Errorf("%s: line %d: its file_version is not 1, the only one that is known", name, lineOf(data, `"file_version"`))
	}
	if len(f.Of) == 0 || len(f.Of) != f.Threads {
		return out, fmt.Errorf("%s: line %d: %d threads are in it, num_threads says %d: it was cut short, or is not oslat's", name, lineOf(data, `"num_threads"`), len(f.Of), f.Threads)
	}
	out.Started, _ = time.Parse(time.RFC1123Z, f.Start) // absent in some versions
	out.Ended, _ = time.Parse(time.RFC1123Z, f.End)
	for i := range f.Threads {
		key := strconv.Itoa(i)
		t, ok := f.Of[key]
		if !ok {
			return out, fmt.Errorf("%s: line %d: there is no thread %s", name, lineOf(data, `"thread"`), key)
		}
		if err := t.add(&out); err != nil {
			return out, fmt.Errorf("%s: line %d: thread %s: %w", name, lineOf(data, `"`+key+`": {`), key, err)
		}
	}
	return out, nil
}

// add puts one thread into the result.
func (t *oslatThread) add(out *bench.SuiteResult) error {
	if t.CPU == nil || t.Min == nil || t.Avg == nil || t.Max == nil || len(t.Histogram) == 0 {
		return fmt.Errorf("cpu, min, avg, max or the histogram is missing")
	}
	var keys []int64
	var count int64
	for k, n := range t.Histogram {
		us, err := strconv.ParseInt(k, 10, 64)
		if err != nil || us < 0 || n < 0 {
			return fmt.Errorf("its histogram has the bucket %q with %d", k, n)
		}
		keys, count = append(keys, us), count+n
	}
	slices.Sort(keys)
	var buckets []record.Bucket
	for i, us := range keys {
		b := record.Bucket{From: us * 1000, To: us * 1000, Count: t.Histogram[strconv.FormatInt(us, 10)]}
		if i == len(keys)-1 && *t.Max > float64(us) {
			b.To = int64(*t.Max * 1000) // the last bucket gathers everything above
		}
		buckets = append(buckets, b)
	}
	m := record.Moments{Count: count, Sum: int64(math.Round(*t.Avg * 1000 * float64(count))), Min: int64(*t.Min * 1000), Max: int64(*t.Max * 1000)}
	s, err := bench.Summarize("oslat", fmt.Sprintf("cpu%d", *t.CPU), "gap", record.FromBuckets(m, buckets), nil, 0, 1, 0.99999, 0.999999)
	if err != nil {
		return err
	}
	s.StdDev, s.Squares = nil, ""
	out.Series = append(out.Series, s)
	out.Warnings = append(out.Warnings, fmt.Sprintf("cpu %d: oslat counts in whole us up to %d us; above, quantiles are only known to be between that and the maximum", *t.CPU, keys[len(keys)-1]))
	if t.Duration != nil {
		ns := *t.Duration * 1e9
		out.Figures = append(out.Figures, bench.Figure{Suite: "oslat", Object: s.Object, Series: "watched", Statistic: "wall", Unit: "ns", Value: &ns})
	}
	return nil
}
