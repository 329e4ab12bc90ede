package bench

import "sort"

// Offset is one estimate of the difference of two clocks: the fastest of some exchanges.
// The error of an exchange is at most half of its round trip, however the two ways share
// it; which way took longer, nobody can tell from it (RFC 5905, section 8).
type Offset struct {
	At    int64 `json:"at"`     // our clock, ns: the middle of the exchange
	NS    int64 `json:"offset"` // server's clock − ours, ns
	Bound int64 `json:"bound"`  // half of the round trip, ns, rounded up
}

// OffsetOf is the estimate of one exchange: the server's clock read between two readings
// of ours.
func OffsetOf(sent, server, received int64) Offset {
	mid := sent + (received-sent)/2
	return Offset{At: mid, NS: server - mid, Bound: (received - sent + 1) / 2}
}

// Offsets are estimates in the order of time.
type Offsets []Offset

// At is the offset at an instant of our clock, and how far the true one is away from it at
// the most: between two estimates it is interpolated, and the bound is the nearer one's and
// the change from one to the other by the share of the way to the nearer; before the first
// and after the last it is theirs, and the bound grows at the steepest rate between any two
// neighbours. ok is false without two estimates.
func (o Offsets) At(at int64) (ns, bound int64, ok bool) {
	if len(o) < 2 {
		return 0, 0, false
	}
	i := sort.Search(len(o), func(i int) bool { return o[i].At > at })
	switch i {
	case 0:
		return o[0].NS, o[0].Bound + o.drift(o[0].At-at), true
	case len(o):
		last := o[len(o)-1]
		return last.NS, last.Bound + o.drift(at-last.At), true
	}
	a, b := o[i-1], o[i]
	way, change := float64(b.At-a.At), float64(b.NS-a.NS)
	ns = a.NS + int64(change*float64(at-a.At)/way)
	near, share := a, float64(at-a.At)/way
	if share > 0.5 {
		near, share = b, 1-share
	}
	if change < 0 {
		change = -change
	}
	return ns, near.Bound + int64(change*share+0.5), true
}

// drift is how far the clocks may have gone apart in d, at the steepest rate seen.
func (o Offsets) drift(d int64) int64 {
	steepest := 0.0
	for i := 1; i < len(o); i++ {
		rate := float64(o[i].NS-o[i-1].NS) / float64(o[i].At-o[i-1].At)
		steepest = max(steepest, rate, -rate)
	}
	return int64(steepest*float64(d) + 0.5)
}
