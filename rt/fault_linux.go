//go:build linux && (amd64 || arm64)

package rt

// In assembly: the handler changes where the interrupted thread goes on.
func storeFaulting(at uintptr, n uint64)

//lint:ignore U1000 the handler goes on there
func faultsOver()

//lint:ignore U1000 the kernel calls it, by an address that assembly takes
func onFault()
func faultHandler() uintptr
func faultCount() uint64

// CountFaults is an action for SignalSegv whose handler counts, and returns to the store
// that may not be done until StoreFaulting has enough of it. It takes no siginfo, which the
// kernel would copy. NB: the Go runtime's own handler must be put back afterwards; until
// then any other fault of the process counts too.
func CountFaults() SignalAction {
	a := CountSignals()
	a.Handler = faultHandler()
	return a
}

// StoreFaulting writes a byte to at, which may not be written, until that has faulted n
// times (n > 0), and returns how often it did: 0 if at can be written after all. Hot.
//
//go:nosplit
func StoreFaulting(at uintptr, n uint64) uint64 {
	storeFaulting(at, n)
	return faultCount()
}
