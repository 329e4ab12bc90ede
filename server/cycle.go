package server

import (
	"opcycle/bench"
	"opcycle/record"
)

// Inputs is the input scan of release k at the monotonic instant now: it returns the grid
// index of the newest Write to Echo, −1 before the first. With publish: start it sends
// what the release before latched, and the flags say how that went. PLC thread. hot.
func (s *Server) Inputs(k, now int64) (input int64, flags record.Flags) {
	if s.cfg.Publish == bench.PublishStart {
		s.engine.tick(k, now)
		flags = s.engine.flags
	}
	return s.engine.input(k), flags
}

// Outputs latches the output image of release k: every Counter has the value of k from now
// on. With publish: end it then handles requests and sends what is due. It returns how many
// requests this release handled, and FlagNoRequest or FlagSlow when a due value stays. PLC
// thread. hot.
func (s *Server) Outputs(k, now int64) (handled int64, flags record.Flags) {
	s.engine.latch(k)
	if s.cfg.Publish == bench.PublishStart {
		return s.engine.handled, 0
	}
	s.engine.tick(k, now)
	return s.engine.handled, s.engine.flags
}

// Idle is release k while the task is held: services and keep-alives go on, no value
// changes. PLC thread. hot.
func (s *Server) Idle(k, now int64) { s.engine.tick(k, now) }
