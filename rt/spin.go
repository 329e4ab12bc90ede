package rt

// SpinUntil reads the clock until it is t or later and returns that reading: the first
// one at or after t. A t in the past returns at the first read. Hot; nosplit, no system
// call: it keeps the CPU and the P, so its caller sleeps first and spins over the last
// stretch only. Under SCHED_FIFO the stretch counts against RLIMIT_RTTIME.
//
//go:nosplit
func SpinUntil(t int64) int64 {
	for {
		if now := nanotime(); now >= t {
			return now
		}
	}
}
