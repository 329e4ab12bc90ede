package bench

import "slices"

// End is what the machine of one end tells of the network and of the CPUs it measured on.
type End struct {
	// Connections are those that carry values between the two ends: of the client process
	// all, of the server process the open ones that ever asked for notifications.
	Connections []Connection `json:"connections"`
	// Card is the interface with the address of the first connection; nil: CardNA says why.
	Card   *Card  `json:"card"`
	CardNA string `json:"card_na,omitempty"`
	// CPUs are the measured ones of this end: what the kernel counted there in the phase.
	CPUs []CPUActivity `json:"cpus"`
}

// WithoutTimes is e without the stretches of its connections, which are counted as left out.
func (e *End) WithoutTimes() *End {
	if e == nil {
		return nil
	}
	out := *e
	out.Connections = slices.Clone(e.Connections)
	for i := range out.Connections {
		c := &out.Connections[i]
		c.LeftOut, c.Seen = c.LeftOut+int64(len(c.Seen)), Retransmissions{}
	}
	return &out
}

// Between is a server's end without the connections of other clients: those stay whose peer
// the client's end knows as its own address. Where an address is translated on the way, none
// is known so, and all stay.
func (e *End) Between(client *End) *End {
	if e == nil || client == nil {
		return e
	}
	out := *e
	out.Connections = slices.DeleteFunc(slices.Clone(e.Connections), func(c Connection) bool {
		return !slices.ContainsFunc(client.Connections, func(o Connection) bool { return o.Local != "" && o.Local == c.Peer })
	})
	if len(out.Connections) == 0 {
		return e
	}
	return &out
}

// Connection is one TCP connection as the kernel of one end sees it after the phase
// (TCP_INFO). Times in ns.
type Connection struct {
	Local  string `json:"local"` // host:port
	Peer   string `json:"peer"`
	Made   int64  `json:"made"` // this end's CLOCK_MONOTONIC, ns
	RTT    int64  `json:"rtt"`  // smoothed
	RTTVar int64  `json:"rtt_variation"`
	MinRTT int64  `json:"rtt_min"` // of the last 5 minutes
	RTO    int64  `json:"rto"`
	// Total are the segments that this end sent again since the connection was made, and Seen
	// when; LeftOut counts the stretches beyond those in Seen.
	Total   int64           `json:"retransmissions"`
	Seen    Retransmissions `json:"seen"`
	LeftOut int64           `json:"seen_left_out"`
	NA      string          `json:"na,omitempty"` // why TCP_INFO could not be read; the numbers are nothing then
}

// Retransmission is a stretch of this end's CLOCK_MONOTONIC, ns, in which segments were sent
// again: from the look before to the one that saw more of them.
type Retransmission struct {
	After    int64 `json:"after"`
	Until    int64 `json:"until"`
	Segments int64 `json:"segments"`
}

// Retransmissions are stretches in no order.
type Retransmissions []Retransmission

// RetransmissionReach is how near a late value lies to a retransmission that is its cause, ns.
const RetransmissionReach = int64(1e9)

// Near tells whether any part of from…to, ns, lies within RetransmissionReach of a stretch.
func (r Retransmissions) Near(from, to int64) bool {
	for _, x := range r {
		if from <= x.Until+RetransmissionReach && to >= x.After-RetransmissionReach {
			return true
		}
	}
	return false
}

// Shifted are the stretches on a clock that is behind by offset, ns.
func (r Retransmissions) Shifted(offset int64) Retransmissions {
	out := make(Retransmissions, len(r))
	for i, x := range r {
		out[i] = Retransmission{After: x.After - offset, Until: x.Until - offset, Segments: x.Segments}
	}
	return out
}

// Within counts the segments of the stretches that touch from…to, ns.
func (r Retransmissions) Within(from, to int64) int64 {
	var n int64
	for _, x := range r {
		if x.Until >= from && x.After <= to {
			n += x.Segments
		}
	}
	return n
}

// Card is a network interface. Nil and empty: not told; Unknown says what and why.
type Card struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Speed  *int64 `json:"speed_mbit"`
	// Coalescing is how long an interrupt is kept back for more packets.
	Coalescing *Coalescing `json:"coalescing"`
	// EEE is Energy-Efficient Ethernet: whether it may be used, and whether the link uses it.
	EEE      *EEE      `json:"eee"`
	Offloads []Offload `json:"offloads"` // by name
	IRQs     []CardIRQ `json:"irqs"`
	IRQsNA   string    `json:"irqs_na,omitempty"` // why there are none
	Unknown  []string  `json:"unknown,omitempty"`
	// Below are the interfaces that a VLAN, a bond or a bridge goes through.
	Below []Card `json:"below,omitempty"`
}

// Offload is work that a card or its driver may take off the stack, by ethtool's names: rx
// and tx (checksums), sg, tso, gso, gro, lro.
type Offload struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// Coalescing in ns and packets; 0 packets: no limit of this kind.
type Coalescing struct {
	RxDelay    int64  `json:"rx_delay"`
	RxFrames   uint32 `json:"rx_frames"`
	AdaptiveRx bool   `json:"rx_adaptive"`
	TxDelay    int64  `json:"tx_delay"`
	TxFrames   uint32 `json:"tx_frames"`
	AdaptiveTx bool   `json:"tx_adaptive"`
}

// EEE is Energy-Efficient Ethernet (IEEE 802.3az).
type EEE struct {
	Enabled bool `json:"enabled"`
	Active  bool `json:"active"`
}

// CardIRQ is one interrupt of a card. Thread is its thread on kernels that handle it in one
// (PREEMPT_RT, threadirqs), with Policy and Priority; empty: none is seen.
type CardIRQ struct {
	Number   string `json:"number"`
	Name     string `json:"name"`
	CPUs     []int  `json:"cpus"` // that take it; nil: not readable
	Thread   string `json:"thread,omitempty"`
	Policy   string `json:"policy,omitempty"`
	Priority int    `json:"priority,omitempty"`
}

// CPUActivity is what the kernel counted on one CPU during the phase; nil: not known.
type CPUActivity struct {
	CPU        int    `json:"cpu"`
	Interrupts *int64 `json:"interrupts"` // of every kind
	Devices    *int64 `json:"devices"`    // of these, devices'
	Softirqs   *int64 `json:"softirqs"`
	Steal      *int64 `json:"steal"` // ns
}
