package cyclictest

import (
	"cmp"
	"slices"

	"opcycle/record"
)

// tally is what one CPU's thread measured: over this process's run, or over all that a
// campaign resumed. It is also the checkpoint's form, and bounded: some 0.5 MB as JSON,
// however long the run.
type tally struct {
	CPU         int              `json:"cpu"`
	Latency     record.Moments   `json:"latency"`
	MicroSum    int64            `json:"micro_sum"`
	MicroOver   int64            `json:"micro_over"`
	Act         int64            `json:"act"`
	Missed      int64            `json:"missed"`
	Early       int64            `json:"early"`
	Interrupted int64            `json:"interrupted"`
	Usage       usage            `json:"usage"`
	Worst       []long           `json:"worst"`
	Outliers    []int64          `json:"outliers"` // cycles of the first latencies beyond the histogram
	Outlying    int64            `json:"outlying"`
	Micro       []int64          `json:"micro"` // without the empty ones at the end
	Log         []int64          `json:"log"`
	Seconds     []record.Moments `json:"seconds"` // folded, see fold
}

// long is one of the worst wake-ups, on the wall clock.
type long struct {
	At    int64 `json:"at"`    // due, ns since 1970
	Since int64 `json:"since"` // begin of the run, pauses left out
	Value int64 `json:"value"`
	Index int64 `json:"index"` // of the instant, from the run's begin
}

// tallyOf is what a copy of a page says. wall is REALTIME − MONOTONIC; before are the
// instants that earlier processes measured. The kernel's counts are not in a page.
func tallyOf(cpu int, p *page, wall, before, interval int64) tally {
	t := tally{CPU: cpu, Latency: p.latency, MicroSum: p.microSum, MicroOver: p.microOver, Act: p.act, Missed: p.missed, Early: p.early,
		Interrupted: p.interrupted, Usage: unknownUsage(), Outlying: p.outlying, Outliers: slices.Clone(p.outliers[:min(p.outlying, outliersKept)]),
		Micro: trimmed(p.micro[:]), Log: trimmed(p.log[:])}
	for _, w := range p.worst {
		if w.Value > 0 {
			t.Worst = append(t.Worst, long{At: w.Due + wall, Since: w.Due - p.first + before*interval, Value: w.Value, Index: before + w.Index})
		}
	}
	return t
}

// instants are those that were measured or slept over.
func (t *tally) instants() int64 { return t.Latency.Count + t.Missed + t.Early }

func trimmed(counts []int64) []int64 {
	n := len(counts)
	for n > 0 && counts[n-1] == 0 {
		n--
	}
	return slices.Clone(counts[:n])
}

// add puts what a later process measured behind t.
func (t *tally) add(o *tally) {
	for _, c := range o.Outliers {
		if len(t.Outliers) < outliersKept {
			t.Outliers = append(t.Outliers[:len(t.Outliers):len(t.Outliers)], t.Latency.Count+c)
		}
	}
	t.CPU, t.Act = o.CPU, o.Act
	t.Latency = t.Latency.With(o.Latency)
	t.MicroSum += o.MicroSum
	t.MicroOver += o.MicroOver
	t.Outlying += o.Outlying
	t.Missed += o.Missed
	t.Early += o.Early
	t.Interrupted += o.Interrupted
	t.Usage = t.Usage.plus(o.Usage)
	t.Micro, t.Log = sum(t.Micro, o.Micro), sum(t.Log, o.Log)
	t.Seconds = slices.Concat(t.Seconds, o.Seconds)
	t.Worst = slices.Concat(t.Worst, o.Worst)
	slices.SortStableFunc(t.Worst, func(a, b long) int { return cmp.Compare(b.Value, a.Value) })
	t.Worst = t.Worst[:min(len(t.Worst), worstKept)]
}

// plus is the sum, unknown where a part is.
func (u usage) plus(o usage) usage {
	if u.Voluntary < 0 || o.Voluntary < 0 {
		return unknownUsage()
	}
	return usage{u.Voluntary + o.Voluntary, u.Involuntary + o.Involuntary, u.Minor + o.Minor, u.Major + o.Major}
}

func sum(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		out[i] += n
	}
	return out
}

// fold joins width seconds to one block, so that a day needs no more room than an hour.
func fold(seconds []record.Moments, width int) []record.Moments {
	out := make([]record.Moments, 0, len(seconds)/width+1)
	for block := range slices.Chunk(seconds, width) {
		var m record.Moments
		for _, s := range block {
			m = m.With(s)
		}
		out = append(out, m)
	}
	return out
}

// mostBlocks are the blocks of time that a result has of a series.
const mostBlocks = 3600

// widthOf is how many seconds a block of a run of so many has.
func widthOf(seconds int) int { return max((seconds+mostBlocks-1)/mostBlocks, 1) }

// series is the latency for record's quantiles.
func (t *tally) series() *record.Series {
	var buckets []record.Bucket
	for i, n := range t.Log {
		if n > 0 {
			from, to := logEdges(i)
			buckets = append(buckets, record.Bucket{From: from, To: to, Count: n})
		}
	}
	return record.FromBuckets(t.Latency, buckets)
}
