package rt

// Unlimited is the value of a resource limit that is none (RLIM_INFINITY).
const Unlimited = ^uint64(0)

// Capability is a capability by the kernel's number (include/uapi/linux/capability.h).
type Capability int

// The capabilities that a measuring process may need.
const (
	CapNetAdmin    Capability = 12
	CapIPCLock     Capability = 14
	CapSysRawIO    Capability = 17
	CapSysAdmin    Capability = 21
	CapSysNice     Capability = 23
	CapSysResource Capability = 24
)

// Resource is a resource limit by its name.
type Resource int

// The resource limits that a measuring process may need.
const (
	LimitMemlock Resource = iota // bytes
	LimitRTPrio                  // priority
	LimitRTTime                  // µs
	LimitOpenFiles
)
