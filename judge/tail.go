package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"opcycle/bench"
)

// Limits of an extrapolation.
const (
	tailBlocks = 50   // fewer maxima support no fit
	tailMost   = 500  // more would be of short blocks, which are not yet extreme
	tailReach  = 10   // times the observed duration
	tailRounds = 199  // of the bootstrap
	tailLevel  = 0.05 // a fit, or independence, with a p below is refused
	tailHeavy  = 0.5  // from this shape on, a tail has no variance
)

// Tail is an estimate of what the largest value of a longer run of the same kind would be
// exceeded by only every Over: the return level. It is not a worst case: causes that did not
// occur in the run are not in it.
type Tail struct {
	OK        bool
	Why       string        // it is refused
	Over      time.Duration // the return period
	Level     float64       // ns
	Low, High float64       // of Level at Confidence, by parametric bootstrap
	Observed  float64       // the largest value of the run, ns
	Blocks    int           // maxima that the fit stands on
	Block     time.Duration // that each is of
	Shape     float64       // of the GEV: negative ends, 0 exponential, positive heavy
	Fit       float64       // p of Anderson-Darling
}

// Assumptions are what a reader must know of every Tail.
const Assumptions = "assumes that the block maxima are independent, that their distribution stays as in the run, and that it is a generalized extreme value distribution; causes that did not occur in the run are not in the fit; no worst case"

// EstimateTail fits the maxima of a series' seconds, in blocks of whole seconds, and returns
// the level that is exceeded once in over. over 0 is ten times the observed duration, the
// most that is answered. cold.
func EstimateTail(s *bench.Series, over time.Duration) Tail {
	t := Tail{Over: over}
	observed := secondsIn(s.Blocks)
	if over == 0 {
		t.Over = tailReach * observed
	}
	maxima, block := blockMaxima(s.Blocks, observed)
	t.Blocks, t.Block = len(maxima), block
	switch {
	case s.Max != nil:
		t.Observed = float64(*s.Max)
	default:
		t.Why = "the series has no values"
		return t
	}
	if t.Why = unfit(maxima, observed, t.Over); t.Why != "" {
		return t
	}
	sorted := slices.Sorted(slices.Values(maxima))
	g, ok := fitGEV(sorted)
	switch {
	case !ok:
		t.Why = "the fit does not converge: the maxima hardly differ"
		return t
	case g.shape >= tailHeavy:
		t.Why = fmt.Sprintf("the fitted tail (shape %.2f) is too heavy to extrapolate: a few rare values rule it", g.shape)
		return t
	}
	t.Shape = g.shape
	blocks := t.Over.Seconds() / block.Seconds()
	t.Level = g.quantile(1 - 1/blocks)
	t.bootstrap(g, sorted, blocks)
	if t.Fit < tailLevel {
		t.Why = fmt.Sprintf("the maxima do not follow a generalized extreme value distribution (Anderson-Darling p = %.3f): several causes are mixed", t.Fit)
		return t
	}
	t.OK = true
	return t
}

// bootstrap draws samples of the fit, fits them again, and takes from them the interval of
// the level and how often their distance from their fit is as large as the data's.
func (t *Tail) bootstrap(g gev, sorted []float64, blocks float64) {
	r := rand.New(rand.NewPCG(0x6f706379636c65, uint64(len(sorted)))) // a report is the same each time
	distance := g.andersonDarling(sorted)
	var levels []float64
	farther, fitted := 0, 0
	for range tailRounds {
		x := g.draw(r, len(sorted))
		again, ok := fitGEV(x)
		if !ok {
			continue
		}
		fitted++
		if again.andersonDarling(x) >= distance {
			farther++
		}
		levels = append(levels, again.quantile(1-1/blocks))
	}
	t.Fit = float64(farther+1) / float64(fitted+1)
	slices.Sort(levels)
	t.Low = stat.Quantile((1-Confidence)/2, stat.Empirical, levels, nil)
	t.High = stat.Quantile(1-(1-Confidence)/2, stat.Empirical, levels, nil)
}

// unfit says why maxima support no estimate for over.
func unfit(maxima []float64, observed, over time.Duration) string {
	switch {
	case len(maxima) < tailBlocks:
		return fmt.Sprintf("too few maxima: %d seconds with values, %d are needed; run %s or longer", len(maxima), tailBlocks, Span(tailBlocks*time.Second))
	case over > tailReach*observed:
		return fmt.Sprintf("%s is more than %d times the observed %s; it needs a run of %s", Span(over), tailReach, Span(observed), Span((over+tailReach-1)/tailReach))
	case over <= observed:
		return fmt.Sprintf("%s is not beyond the observed %s: read the maximum of the run", Span(over), Span(observed))
	}
	if r := lagOne(maxima); r > 1.645/math.Sqrt(float64(len(maxima))) { // one-sided: bursts make it positive
		return fmt.Sprintf("the maxima are not independent: one block's says something of the next (autocorrelation %.2f)", r)
	}
	return ""
}

// lagOne is the autocorrelation of neighbours; NaN of constant values is none.
func lagOne(v []float64) float64 {
	r := stat.Correlation(v[:len(v)-1], v[1:], nil)
	if math.IsNaN(r) {
		return 0
	}
	return r
}

// secondsIn is the time that blocks cover, from the first to the last with values.
func secondsIn(blocks []bench.Block) time.Duration {
	if len(blocks) == 0 {
		return 0
	}
	return time.Duration(blocks[len(blocks)-1].Second-blocks[0].Second+blocks[0].Length()) * time.Second
}

// blockMaxima are the maxima of blocks of whole seconds: as many blocks as tailMost allows,
// the last one left out when it is not whole. A block without a value is left out.
func blockMaxima(seconds []bench.Block, observed time.Duration) ([]float64, time.Duration) {
	if len(seconds) == 0 {
		return nil, time.Second
	}
	width := seconds[0].Length()
	length := max(width, int64(observed.Seconds())/tailMost/width*width)
	block := time.Duration(length) * time.Second
	first := seconds[0].Second
	whole := int64(observed.Seconds()) / length
	best := map[int64]float64{}
	for _, b := range seconds {
		i := (b.Second - first) / length
		if v, ok := best[i]; i < whole && (!ok || float64(b.Max) > v) {
			best[i] = float64(b.Max)
		}
	}
	var out []float64
	for i := range whole {
		if v, ok := best[i]; ok {
			out = append(out, v)
		}
	}
	return out, block
}
