package opcua

import (
	"opcycle/bench"
	"opcycle/rt"
)

// trace marks the task's releases in the kernel's tracer, and stops it at the first breach
// of the measuring phase: the tracer is on in that phase only.
type trace struct {
	marker *rt.Marker
	above  int64 // ns; 0: nothing stops it
	period int64 // ns
}

// openTrace opens the tracer that the conductor made; nil without one. cold.
func openTrace(p bench.Plan) (*trace, error) {
	if p.Trace == nil || p.Trace.Dir == "" {
		return nil, nil
	}
	m, err := rt.OpenMarker(p.Trace.Dir)
	if err != nil {
		return nil, err
	}
	return &trace{m, int64(p.Trace.StopAbove), p.Period()}, nil
}

// Released comes right after W(k), late ns after the oldest release was due that had not
// run. hot.
func (t *trace) Released(k, late int64) {
	if t.above > 0 && late > t.above {
		t.breach(bench.TraceLate, k, late)
	}
}

// Finished comes after X(k) and the meter, so that its system call is in nobody's execution
// time. An execution beyond the cycle is a breach, whatever the start latency was. hot.
func (t *trace) Finished(k, took int64) {
	t.marker.Mark(bench.TraceCycle, k, took)
	if t.above > 0 && took > t.period {
		t.breach(bench.TraceOverrun, k, took)
	}
}

// breach stops the tracer at once. One that is off is left alone: the kernel's switch is
// behind a lock. hot.
func (t *trace) breach(word string, k, ns int64) {
	if t.marker.Mark(word, k, ns) {
		t.marker.Stop()
	}
}
