package opcua

import (
	"opcycle/bench"
	"opcycle/rt"
)

// trace marks the task's releases in the kernel's tracer, and stops it at the first one
// that begins too late.
type trace struct {
	marker *rt.Marker
	above  int64 // ns; 0: never
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
	return &trace{m, int64(p.Trace.StopAbove)}, nil
}

// Released comes right after W(k), late ns after the release was due. hot.
func (t *trace) Released(k, late int64) {
	if t.above > 0 && late > t.above {
		t.marker.Mark("breach", k, late)
		t.marker.Stop()
	}
}

// Finished comes after X(k) and the meter, so that its system call is in nobody's execution
// time. hot.
func (t *trace) Finished(k, took int64) { t.marker.Mark("cycle", k, took) }
