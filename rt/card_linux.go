package rt

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReadCard asks the driver of the network interface name of this network namespace. Only
// reads; needs no privilege. An error says that there is no such interface. Cold.
//
// https://man7.org/linux/man-pages/man7/netdevice.7.html and include/uapi/linux/ethtool.h
func ReadCard(name string) (Card, error) {
	var c Card
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return c, fmt.Errorf("socket for ethtool's ioctl: %w", err)
	}
	defer unix.Close(fd)
	unknown := func(what string, err error) {
		c.Unknown = append(c.Unknown, what+": "+err.Error())
	}
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, name)
	switch {
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.EINVAL):
		return c, fmt.Errorf("network interface %q: %w", name, err)
	case err != nil:
		unknown("driver", err)
	default:
		driver, _, _ := bytes.Cut(info.Driver[:], []byte{0})
		c.Driver = string(driver)
	}
	if q := (ethtoolCoalesce{Command: unix.ETHTOOL_GCOALESCE}); unknownIf(unknown, "coalescing", ethtool(fd, name, unsafe.Pointer(&q))) {
		c.Coalescing = &Coalescing{RxDelay: time.Duration(q.RxUsecs) * time.Microsecond, TxDelay: time.Duration(q.TxUsecs) * time.Microsecond,
			RxFrames: q.RxFrames, TxFrames: q.TxFrames, AdaptiveRx: q.AdaptiveRx != 0, AdaptiveTx: q.AdaptiveTx != 0}
	}
	if q := (ethtoolEEE{Command: unix.ETHTOOL_GEEE}); unknownIf(unknown, "EEE", ethtool(fd, name, unsafe.Pointer(&q))) {
		c.EEE = &EEE{Enabled: q.Enabled != 0, Active: q.Active != 0}
	}
	for _, o := range []struct {
		name    string
		command uint32
		bit     uint32
	}{{"rx", unix.ETHTOOL_GRXCSUM, 1}, {"tx", unix.ETHTOOL_GTXCSUM, 1}, {"sg", unix.ETHTOOL_GSG, 1}, {"tso", unix.ETHTOOL_GTSO, 1},
		{"gso", unix.ETHTOOL_GGSO, 1}, {"gro", unix.ETHTOOL_GGRO, 1}, {"lro", unix.ETHTOOL_GFLAGS, flagLRO}} {
		if q := (ethtoolValue{Command: o.command}); unknownIf(unknown, o.name, ethtool(fd, name, unsafe.Pointer(&q))) {
			if c.Offloads == nil {
				c.Offloads = map[string]bool{}
			}
			c.Offloads[o.name] = q.Value&o.bit != 0
		}
	}
	return c, nil
}

// unknownIf notes why something is not known; true: it is.
func unknownIf(note func(string, error), what string, err error) bool {
	if err != nil {
		note(what, err)
	}
	return err == nil
}

// The structures of include/uapi/linux/ethtool.h.
type (
	ethtoolValue struct{ Command, Value uint32 }
	ethtoolEEE   struct {
		Command, Supported, Advertised, PeerAdvertised, Active, Enabled, TxIdle, TxIdleTimer uint32

		_ [2]uint32
	}
	ethtoolCoalesce struct {
		Command, RxUsecs, RxFrames, RxUsecsIRQ, RxFramesIRQ, TxUsecs, TxFrames, TxUsecsIRQ, TxFramesIRQ uint32

		StatsUsecs, AdaptiveRx, AdaptiveTx uint32

		_ [11]uint32 // for low and high packet rates
	}
)

const flagLRO = 1 << 15 // ETH_FLAG_LRO

// ethtool is the ioctl SIOCETHTOOL for one structure.
func ethtool(fd int, name string, request unsafe.Pointer) error {
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [24 - unsafe.Sizeof(uintptr(0))]byte
	}
	copy(ifr.name[:unix.IFNAMSIZ-1], name)
	ifr.data = request
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr)))
	runtime.KeepAlive(request)
	if errno != 0 {
		return errno
	}
	return nil
}
