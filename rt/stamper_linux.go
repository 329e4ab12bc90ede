package rt

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// peekBytes is how much of what lies unread a Stamper shows: the largest chunk of an OPC
// UA connection (Part 6, 7.1.2: 65,535 bytes here), so that the reader of the look can
// tell whether a message ends where the stamped bytes end.
const peekBytes = 1 << 16

// Stamper watches one TCP socket from an OS thread of its own and tells when the kernel
// received what another goroutine is about to read. It only peeks: the reader loses
// nothing.
//
// What it cannot tell, and its user must expect:
//   - the reader was faster: the bytes are gone. Missed counts it if they went between
//     the wake-up and the look; if they went before, epoll itself withdraws the event and
//     nothing counts it. Only the user, who knows its messages, can count unstamped ones;
//   - two arrivals in one event: both are shown, by the stamp of the last
//     (TCP coalesces, and the stamp moves with it);
//   - an arrival while an older message is still unread: that older message is shown a
//     second time, by a later stamp. Its first showing is the one to keep.
//
// NB: it holds a duplicate of the descriptor: the connection ends when both are closed, so
// close the Stamper before the socket, or the peer will see no end.
type Stamper struct {
	sock, epfd, wake int // owned by the thread from NewStamper's return to done
	sink             func(stamp int64, unread []byte)
	done             chan struct{} // closed when the loop has ended and the descriptors are closed
	closing          sync.Once

	events, missed, unstamped atomic.Int64 // written by the thread only

	// Of recvmsg; owned by the thread. In the heap, where the kernel's pointers stay valid.
	event unix.EpollEvent
	msg   unix.Msghdr
	iov   unix.Iovec
	head  [peekBytes]byte
	oob   [64]byte
}

// NewStamper enables stamps on the socket and starts the thread, at SCHED_FIFO and the
// given priority, or as the process when that is 0. It returns when the thread watches.
// sink runs on that thread and must be hot; unread is what lies in the socket, valid until it returns; stamp is
// CLOCK_REALTIME in ns. On one CPU the thread needs a higher priority than the reader to
// be first. Cold.
func NewStamper(fd uintptr, priority int, sink func(stamp int64, unread []byte)) (*Stamper, error) {
	if err := EnableRxStamps(fd); err != nil {
		return nil, err
	}
	s := &Stamper{sock: -1, epfd: -1, wake: -1, sink: sink, done: make(chan struct{})}
	if err := s.open(fd); err != nil {
		s.release()
		return nil, err
	}
	started := make(chan error)
	go s.run(priority, started)
	if err := <-started; err != nil {
		<-s.done
		return nil, err
	}
	return s, nil
}

// open makes the thread's descriptors. Cold.
func (s *Stamper) open(fd uintptr) (err error) {
	if s.sock, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return fmt.Errorf("stamper: duplicate descriptor %d: %w", fd, err)
	}
	if s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("stamper: eventfd: %w", err)
	}
	if s.epfd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("stamper: epoll_create1: %w", err)
	}
	arrivals := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(s.sock)}
	if err := unix.EpollCtl(s.epfd, unix.EPOLL_CTL_ADD, s.sock, &arrivals); err != nil {
		return fmt.Errorf("stamper: watch descriptor %d: %w", fd, err)
	}
	stop := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(s.wake)}
	if err := unix.EpollCtl(s.epfd, unix.EPOLL_CTL_ADD, s.wake, &stop); err != nil {
		return fmt.Errorf("stamper: watch eventfd: %w", err)
	}
	s.iov.Base = &s.head[0]
	s.iov.SetLen(len(s.head))
	s.msg.Iov = &s.iov
	s.msg.SetIovlen(1)
	s.msg.Control = &s.oob[0]
	return nil
}

// run is the thread. It never unlocks: a goroutine that ends locked takes its thread with
// it, so no other goroutine inherits the priority. Cold around the hot loop.
func (s *Stamper) run(priority int, started chan<- error) {
	runtime.LockOSThread()
	defer close(s.done)
	defer s.release()
	if priority > 0 {
		if err := SetThread(0, Attr{Policy: FIFO, Priority: priority}); err != nil {
			started <- fmt.Errorf("stamper: %w", err)
			return
		}
	}
	started <- nil
	s.watch()
}

// watch is the loop: wait, peek, tell. Hot.
func (s *Stamper) watch() {
	for {
		n, errno := epollWait(s.epfd, &s.event)
		if errno == syscall.EINTR || n == 0 {
			continue
		}
		if errno != 0 || s.event.Fd == int32(s.wake) {
			return
		}
		s.peek()
	}
}

// peek looks at what arrived. Hot: one raw recvmsg, for the thread must not lose its P
// between the wake-up and the look.
//
// https://man7.org/linux/man-pages/man2/recvmsg.2.html
func (s *Stamper) peek() {
	s.msg.SetControllen(len(s.oob))
	n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(s.sock), uintptr(unsafe.Pointer(&s.msg)),
		unix.MSG_PEEK|unix.MSG_DONTWAIT)
	s.events.Add(1)
	if errno != 0 || n == 0 {
		s.missed.Add(1)
		return
	}
	stamp, ok := stampOf(s.oob[:s.msg.Controllen])
	if !ok {
		s.unstamped.Add(1)
		return
	}
	s.sink(stamp, s.head[:n])
}

// stampOf finds SCM_TIMESTAMPNS in the control messages of a recvmsg, as CLOCK_REALTIME
// in ns. Hot: unix.ParseSocketControlMessage allocates.
//
// https://man7.org/linux/man-pages/man3/cmsg.3.html
func stampOf(oob []byte) (int64, bool) {
	const header = unix.SizeofCmsghdr
	for len(oob) >= header {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0]))
		size := int(h.Len)
		if size < header || size > len(oob) {
			return 0, false
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && size >= header+int(unsafe.Sizeof(unix.Timespec{})) {
			ts := (*unix.Timespec)(unsafe.Pointer(&oob[header]))
			return ts.Sec*1e9 + ts.Nsec, true
		}
		oob = oob[min((size+7)&^7, len(oob)):] // CMSG_ALIGN of a 64-bit kernel
	}
	return 0, false
}

// Counts is what the Stamper saw until now. Any goroutine may ask. Warm.
func (s *Stamper) Counts() StamperCounts {
	return StamperCounts{Events: s.events.Load(), Missed: s.missed.Load(), Unstamped: s.unstamped.Load()}
}

// Close ends the thread, waits for it, and closes its descriptors; the sink is not called
// afterwards. Any number of calls; not from the sink. Cold.
func (s *Stamper) Close() {
	s.closing.Do(func() {
		one := [8]byte{1} // any value but 0 and 2^64-1, in either byte order
		for {
			if _, err := unix.Write(s.wake, one[:]); !errors.Is(err, unix.EINTR) {
				break
			}
		}
	})
	<-s.done
}

// release closes the descriptors. Cold.
func (s *Stamper) release() {
	for _, fd := range []int{s.epfd, s.wake, s.sock} {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing is buffered in them
		}
	}
}
