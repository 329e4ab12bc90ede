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
	OpenExclusive = 0x80
	OpenTruncate  = 0x200
	OpenCloexec   = 0x80000

	SignalUser1 = 10
	SignalSegv  = 11
	SignalChild = 17
	SignalTerm  = 15
	SignalKill  = 9
)

// SignalAction is the kernel's struct sigaction, on amd64 and arm64 alike.
//
// https://man7.org/linux/man-pages/man2/rt_sigaction.2.html
type SignalAction struct {
	Handler  uintptr
	Flags    uint64
	Restorer uintptr
	Mask     uint64
}

// RawAddress is the kernel's struct sockaddr_in.
type RawAddress [16]byte

// FDSet is the kernel's fd_set: a bit for each descriptor below 1024.
type FDSet [16]uint64

// Socket options of SOL_SOCKET.
const (
	SocketReuseAddress  = 2
	SocketSendBuffer    = 7
	SocketReceiveBuffer = 8
)
