package bench

// Outcome is what became of one grid index of the measuring phase.
type Outcome string

// Every index has exactly one outcome: on time, late or missed.
const (
	OnTime Outcome = "on_time"
	Late   Outcome = "late"
	Missed Outcome = "missed"
)

// Cause is the one reason for a late or missed index. The words are also the statistics
// of the series "missed" and "late".
type Cause string

// Causes of a missed index, in the order in which they are tried.
const (
	SkippedRelease Cause = "skipped_release" // the task did not execute release k
	Reconnect      Cause = "reconnect"       // no session or subscription when it was due
	QueueOverflow  Cause = "queue_overflow"  // dropped from a full queue, Overflow bit
	Coalesced      Cause = "coalesced"       // queue size 1, overwritten
	NotSent        Cause = "not_sent"        // still queued at the end of drain
	ClientLost     Cause = "client"          // sent in a message that the client never saw
	Unknown        Cause = "unknown"
)

// Causes of a late index, in the order in which they are tried.
const (
	LateTask           Cause = "task"            // X − S > D
	LateRetransmission Cause = "retransmission"  // within 1 s of a segment that either end sent again
	LatePublishRequest Cause = "publish_request" // no Publish request waited when it was due
	LateNetwork        Cause = "network"         // K − P > T/2
	LateClient         Cause = "client"          // R − K > T/2
)

// MissedCauses returns the causes of a missed index in the order of metrics.md.
func MissedCauses() []Cause {
	return []Cause{SkippedRelease, Reconnect, QueueOverflow, Coalesced, NotSent, ClientLost, Unknown}
}

// LateCauses returns the causes of a late index in the order of metrics.md.
func LateCauses() []Cause {
	return []Cause{LateTask, LateRetransmission, LatePublishRequest, LateNetwork, LateClient, Unknown}
}
