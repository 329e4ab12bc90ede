package judge

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"opcycle/bench"
)

// spreadRuns is from how many runs on, sides and history together, the spread between runs
// is taken as known; blocksLeast how many seconds the spread within a run needs.
const (
	spreadRuns  = 4
	blocksLeast = 5
)

// fewRuns decides a row with fewer than five runs on a side. What one run differs from the
// next by is larger than anything within it, so the interval is that of the difference of
// two means of runs: by the spread between runs, from sides with several and from the
// history, and for an average at least by the spread of its seconds. Without a known
// spread nothing is claimed.
func (row *ComparedRow) fewRuns(base, other Side, s seriesName, statistic string, a, b []float64, r Rules) {
	row.Effect = row.Other - row.Base
	row.Low, row.High = math.Inf(-1), math.Inf(1)
	variance, free := between([][]float64{a, b, values(r.History, s, statistic)})
	if free < spreadRuns-1 {
		row.Why = fmt.Sprintf("%d and %d run(s): what runs differ by on this host is not known; give %d or more runs a side, or --history with at least %d",
			len(a), len(b), runsASide, spreadRuns)
		if len(a) == 1 && len(b) == 1 {
			row.Why = "one run a side: what runs differ by on this host is not known; give " +
				fmt.Sprintf("%d or more runs a side, or --history with at least %d", runsASide, spreadRuns)
		}
		return
	}
	spread := variance * (1/float64(len(a)) + 1/float64(len(b)))
	if statistic == "avg" {
		spread = max(spread, ofSide(base.Runs, s)+ofSide(other.Runs, s))
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(free)}.Quantile(1-(1-Confidence)/2) * math.Sqrt(spread)
	row.Low, row.High = row.Effect-half, row.Effect+half
	row.judge(true, r.Same)
	if row.Outcome == Better || row.Outcome == Worse {
		row.Why = fmt.Sprintf("by the spread between runs (%d degrees of freedom)", free)
	}
}

// between is the variance between runs, pooled over groups, with its degrees of freedom.
func between(groups [][]float64) (variance float64, free int) {
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		variance += stat.Variance(g, nil) * float64(len(g)-1)
		free += len(g) - 1
	}
	if free > 0 {
		variance /= float64(free)
	}
	return variance, free
}

// ofSide is the variance of a side's average, as the mean of its runs', by nothing but the
// spread within them: the least that it can be.
func ofSide(runs []Run, s seriesName) float64 {
	v, n := within(runs, s)
	return v / float64(max(n, 1))
}

// within is the variance of one run's average by the spread of its seconds, as if these
// were independent: the mean over the runs with enough seconds, and how many have them.
func within(runs []Run, s seriesName) (variance float64, n int) {
	for i := range runs {
		x := runs[i].find(s.object, s.name)
		if x == nil {
			continue
		}
		means := secondMeans(x.Blocks)
		if len(means) >= blocksLeast {
			variance += stat.Variance(means, nil) / float64(len(means))
			n++
		}
	}
	return variance / float64(max(n, 1)), n
}

func secondMeans(blocks []bench.Block) []float64 {
	out := make([]float64, 0, len(blocks))
	for _, b := range blocks {
		if b.Count > 0 {
			out = append(out, float64(b.Sum)/float64(b.Count))
		}
	}
	return slices.Clip(out)
}
