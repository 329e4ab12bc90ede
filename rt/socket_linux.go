package rt

import (
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SendNow hands p to a connected socket without waiting: sendto with MSG_DONTWAIT and
// MSG_NOSIGNAL. It returns the bytes taken, which may be fewer than len(p); a full socket
// is 0 and syscall.EAGAIN. Hot; raw: the P is kept, for on one host the receiver's
// protocol work runs inside this call, and a handed-over P would have to be won back.
// Errors are a bare errno.
//
// https://man7.org/linux/man-pages/man2/send.2.html
//
//go:nosplit
func SendNow(fd uintptr, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno // an errno below 256 becomes an interface without allocation
	}
	return int(n), nil
}

// Outq is how many bytes written to a TCP socket are not yet acknowledged by the peer's
// kernel (SIOCOUTQ). Hot; nosplit; errors are a bare errno.
//
// https://man7.org/linux/man-pages/man7/tcp.7.html
//
//go:nosplit
func Outq(fd uintptr) (int, error) {
	var n int32
	if _, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, fd, unix.SIOCOUTQ, uintptr(unsafe.Pointer(&n))); errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// EnableRxStamps has the kernel stamp what arrives on a socket by CLOCK_REALTIME in ns.
// The first packets after the machine's first such socket may bear none. Cold.
//
// https://docs.kernel.org/networking/timestamping.html
func EnableRxStamps(fd uintptr) error {
	if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return fmt.Errorf("setsockopt(SO_TIMESTAMPNS) on descriptor %d: %w", fd, err)
	}
	return nil
}

// ReadTCPInfo asks the kernel about a TCP socket. Cold.
//
// https://man7.org/linux/man-pages/man7/tcp.7.html
func ReadTCPInfo(fd uintptr) (TCPInfo, error) {
	got, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return TCPInfo{}, fmt.Errorf("getsockopt(TCP_INFO) on descriptor %d: %w", fd, err)
	}
	return TCPInfo{
		RTT:              time.Duration(got.Rtt) * time.Microsecond,
		RTTVar:           time.Duration(got.Rttvar) * time.Microsecond,
		MinRTT:           time.Duration(got.Min_rtt) * time.Microsecond,
		RTO:              time.Duration(got.Rto) * time.Microsecond,
		Retransmits:      uint32(got.Retransmits),
		TotalRetransmits: got.Total_retrans,
		Unacked:          got.Unacked,
		Lost:             got.Lost,
		SendMSS:          got.Snd_mss,
		SendWindow:       got.Snd_cwnd,
	}, nil
}

// socketNames are both ends of a TCP socket as host:port; empty: not known. Cold.
func socketNames(fd uintptr) (local, peer string) {
	name := func(a unix.Sockaddr, err error) string {
		switch x := a.(type) {
		case *unix.SockaddrInet4:
			return netip.AddrPortFrom(netip.AddrFrom4(x.Addr), uint16(x.Port)).String()
		case *unix.SockaddrInet6:
			return netip.AddrPortFrom(netip.AddrFrom16(x.Addr).Unmap(), uint16(x.Port)).String()
		}
		return ""
	}
	return name(unix.Getsockname(int(fd))), name(unix.Getpeername(int(fd)))
}
