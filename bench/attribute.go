package bench

// Facts are what both ends' logs say about one grid index of the measuring phase. Instants
// are on the receiver's clock; zero is "did not happen".
type Facts struct {
	Executed bool // release k of the publisher was executed
	Due      int64
	Done     int64 // X(k)

	Sent       bool  // value k left in a message that the log knows
	Waited     bool  // it left in a later release than planned: no Publish request, or a slow reader
	Before     int64 // P(k)
	Dropped    bool  // a value of k left a queue unsent
	DroppedOne bool  // from a queue of size 1

	Arrived      bool // value k of every item reached the client
	Received     int64
	Kernel       int64 // kernel receive stamp, or an upper bound of it
	KernelExact  bool
	Disconnected bool // k lies in a stretch without a session or subscription

	Retransmitted bool // between Due and Received, or within RetransmissionReach, a segment was sent again

	ServerLog   bool // the server's side of the log is known at all
	CommonClock bool // Due, Done, Before and Received, Kernel are on one clock
}

// Attribute says what became of an index: the one outcome and the one cause. deadline is
// D and period T, ns. It is the only place where missed and late are decided
// (metrics.md, "Rows of the OPC UA report").
func Attribute(f Facts, deadline, period int64) (Outcome, Cause) {
	if !f.Arrived {
		return Missed, missedCause(f)
	}
	if !f.CommonClock || f.Received-f.Due <= deadline {
		return OnTime, ""
	}
	return Late, lateCause(f, deadline, period)
}

func missedCause(f Facts) Cause {
	switch {
	case f.ServerLog && !f.Executed:
		return SkippedRelease
	case f.Disconnected:
		return Reconnect
	case f.Dropped && !f.DroppedOne:
		return QueueOverflow
	case f.Dropped:
		return Coalesced
	case f.Sent:
		return ClientLost
	case f.ServerLog:
		return NotSent
	}
	return Unknown
}

func lateCause(f Facts, deadline, period int64) Cause {
	switch {
	case f.Executed && f.Done-f.Due > deadline:
		return LateTask // it would be late without any network
	case f.Retransmitted: // it delays Publish requests, too, and what comes after it
		return LateRetransmission
	case f.Waited:
		return LatePublishRequest
	case f.Sent && f.Before != 0 && f.KernelExact && f.Kernel-f.Before > period/2:
		return LateNetwork
	case f.Kernel != 0 && f.Received-f.Kernel > period/2: // holds for an upper bound too
		return LateClient
	}
	return Unknown
}
