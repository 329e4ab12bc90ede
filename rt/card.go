package rt

import "time"

// Card is what the driver of a network interface tells by ethtool's ioctl. Nil: not told,
// and Unknown says why.
type Card struct {
	Driver     string
	Coalescing *Coalescing
	EEE        *EEE
	// Offloads are on or off by ethtool's names: rx, tx (checksums), sg, tso, gso, gro, lro.
	Offloads map[string]bool
	Unknown  []string // "coalescing: operation not supported"
}

// Coalescing is how long a card keeps an interrupt back for more packets.
type Coalescing struct {
	RxDelay, TxDelay       time.Duration
	RxFrames, TxFrames     uint32 // at the most; 0: no limit of this kind
	AdaptiveRx, AdaptiveTx bool   // the driver changes the delays by itself
}

// EEE is Energy-Efficient Ethernet: an idle link sleeps, and takes some µs to wake up.
type EEE struct{ Enabled, Active bool }
