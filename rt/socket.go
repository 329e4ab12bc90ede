package rt

import "time"

// TCPInfo is the kernel's view of one connection. The retransmits tell a lost packet from
// a slow peer.
type TCPInfo struct {
	RTT, RTTVar, RTO time.Duration // smoothed round trip, its variation, retransmission time-out
	MinRTT           time.Duration // the smallest that the kernel saw within its window (5 min)
	Retransmits      uint32        // of the present unacknowledged segment
	TotalRetransmits uint32        // since the connection was made
	Unacked          uint32        // segments in flight
	Lost             uint32        // segments taken for lost at present
	SendMSS          uint32        // bytes
	SendWindow       uint32        // congestion window, segments
}

// StamperCounts is what a Stamper saw since its start.
type StamperCounts struct {
	Events    int64 // wake-ups by the socket
	Missed    int64 // of these, nothing left to peek
	Unstamped int64 // of these, bytes without the kernel's stamp; not given to the sink
}
