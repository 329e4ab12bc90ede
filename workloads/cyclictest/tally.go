package cyclictest

import (
	"cmp"
	"slices"

	"opcycle/record"
)

// tally is what one CPU's thread measured: over this process's run, or over all that a
// campaign resumed. It is also the checkpoint's form.
type tally struct {
	CPU         int              `json:"cpu"`
	Latency     record.Moments   `json:"latency"`
	MicroSum    int64            `json:"micro_sum"`
	MicroOver   int64            `json:"micro_over"`
	Missed      int64            `json:"missed"`
	Early       int64            `json:"early"`
	Interrupted int64            `json:"interrupted"`
	Usage       usage            `json:"-"`
	Worst       []long           `json:"worst"`
	Micro       []int64          `json:"micro"` // without the empty ones at the end
	Log         []int64          `json:"log"`
	Seconds     []record.Moments `json:"seconds"`
}

// long is one of the worst wake-ups, on the wall clock.
type long struct {
	At    int64 `json:"at"`    // due, ns since 1970
	Since int64 `json:"since"` // begin of its process's run
	Value int64 `json:"value"`
	Index int64 `json:"index"`
}

// tallyOf reads a page; wall is REALTIME − MONOTONIC.
func tallyOf(cpu int, p *page, seconds []record.Moments, wall int64) tally {
	t := tally{CPU: cpu, Latency: p.latency, MicroSum: p.microSum, MicroOver: p.microOver, Missed: p.missed, Early: p.early,
		Interrupted: p.interrupted, Micro: trimmed(p.micro[:]), Log: trimmed(p.log[:])}
	for _, w := range p.worst {
		if w.Value > 0 {
			t.Worst = append(t.Worst, long{At: w.Due + wall, Since: w.Due - p.first, Value: w.Value, Index: w.Index})
		}
	}
	t.Seconds = whole(seconds)
	return t
}

// whole are the seconds up to the last with values. The last room for one gathers what did
// not fit: it is no second, and is left out.
func whole(seconds []record.Moments) []record.Moments {
	n := 0
	for i := range seconds[:len(seconds)-1] {
		if seconds[i].Count > 0 {
			n = i + 1
		}
	}
	return slices.Clone(seconds[:n])
}

func trimmed(counts []int64) []int64 {
	n := len(counts)
	for n > 0 && counts[n-1] == 0 {
		n--
	}
	return slices.Clone(counts[:n])
}

// add puts what was measured later, or in another process, behind t.
func (t *tally) add(o tally) {
	t.CPU = o.CPU
	t.Latency = together(t.Latency, o.Latency)
	t.MicroSum += o.MicroSum
	t.MicroOver += o.MicroOver
	t.Missed += o.Missed
	t.Early += o.Early
	t.Interrupted += o.Interrupted
	t.Usage = o.Usage
	t.Micro, t.Log = sum(t.Micro, o.Micro), sum(t.Log, o.Log)
	t.Seconds = append(slices.Clone(t.Seconds), o.Seconds...)
	t.Worst = append(slices.Clone(t.Worst), o.Worst...)
	slices.SortFunc(t.Worst, func(a, b long) int { return cmp.Compare(b.Value, a.Value) })
	t.Worst = t.Worst[:min(len(t.Worst), worstKept)]
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

// together are the moments of both sets of values.
func together(a, b record.Moments) record.Moments {
	switch {
	case a.Count == 0:
		return b
	case b.Count == 0:
		return a
	}
	a.Squares.Add(b.Squares)
	return record.Moments{Count: a.Count + b.Count, Sum: a.Sum + b.Sum, Squares: a.Squares, Min: min(a.Min, b.Min), Max: max(a.Max, b.Max)}
}

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
