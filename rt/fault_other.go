//go:build !linux || !(amd64 || arm64)

package rt

// What needs assembly and Linux, elsewhere: nothing, never a fault.

func CountFaults() SignalAction            { return SignalAction{} }
func StoreFaulting(uintptr, uint64) uint64 { return 0 }
