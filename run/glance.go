package run

import (
	"slices"

	"opcycle/bench"
	"opcycle/record"
)

// glance is a look at the traffic before the measuring phase: where values arrive in the
// cycle and how large a message is.
type glance struct {
	arrivals []record.Arrival
	bytes    []int64
}

// glanceSize is how many of the newest messages it looks at.
const glanceSize = 200

func (g *glance) server(r *record.Record) {
	if r.Kind == record.KindSent {
		g.bytes = newest(g.bytes, r.Sent().Bytes)
	}
}

func (g *glance) client(r *record.Record) {
	if r.Kind == record.KindArrival {
		g.arrivals = newest(g.arrivals, r.Arrival())
	}
}

func newest[T any](list []T, v T) []T {
	if len(list) == glanceSize {
		list = append(list[:0], list[1:]...)
	}
	return append(list, v)
}

// medianOffset is the median of R(k) − S(k) of the newest arrivals, ns.
func (g *glance) medianOffset(grid bench.Grid) (int64, bool) {
	var v []int64
	for _, a := range g.arrivals {
		v = append(v, a.Received-grid.Due(a.K))
	}
	return median(v)
}

// messageBytes is the median size of a Publish response on the wire.
func (g *glance) messageBytes() (int64, bool) { return median(slices.Clone(g.bytes)) }

// median sorts v and returns its middle.
func median(v []int64) (int64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	return v[len(v)/2], true
}
