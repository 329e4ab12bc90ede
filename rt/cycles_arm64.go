package rt

const cycleUnit = "CNTVCT ticks"

// Cycles is the processor's counter: LFENCE, RDTSC, LFENCE on amd64 (CPUID as a fence
// would exit to a hypervisor), ISB, CNTVCT_EL0 on arm64; 0 on other machines. Everything
// before it has completed, nothing after it has begun. Hot; nosplit.
func Cycles() int64
