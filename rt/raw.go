package rt

// StatBuffer holds what stat(2) writes, on every machine.
type StatBuffer [32]uint64

// Linux's bits of mmap(2), msync(2) and openat(2) and its signals, for the functions Raw…,
// which give them on as they are.
const (
	ProtRead  = 1
	ProtWrite = 2

	MmapShared   = 1
	MmapPrivate  = 2
	MmapAnon     = 0x20
	MmapPopulate = 0x8000

	MsSync       = 4
	MsInvalidate = 2

	OpenReadOnly  = 0
	OpenWriteOnly = 1
	OpenReadWrite = 2
	OpenCreate    = 0x40
	OpenTruncate  = 0x200
	OpenCloexec   = 0x80000

	SignalUser1 = 10
	SignalTerm  = 15
	SignalKill  = 9
)
