package sel4bench

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"opcycle/rt"
)

// mostSamples bounds a run.
const mostSamples = 20_000

// board is the memory that both ends share.
type board struct {
	request, reply uint32 // futex words: 1 = sent
	stamp          int64  // of the spinner
	quit           uint32
	taken          uint32 // samples that the peer has stamped
	start          [mostSamples]int64
	middle         [mostSamples]int64 // the server: after its receive
	back           [mostSamples]int64 // the server: before its send
	end            [mostSamples]int64
}

const boardBytes = int(unsafe.Sizeof(board{}))

// The mechanisms.
const (
	viaFutex   = "futex"
	viaEventfd = "eventfd"
	viaPipe    = "pipe"
)

func mechanisms() []string { return []string{viaFutex, viaEventfd, viaPipe} }

// link is one direction of a transport.
type link struct {
	word    *uint32 // futex; else nil
	in, out int     // descriptors: what the receiver reads, what the sender writes
	size    int     // bytes of a message
	buf     [8]byte
}

// links are a request's and a reply's direction.
func links(via string, b *board) (request, reply *link, err error) {
	request, reply = &link{}, &link{}
	switch via {
	case viaFutex:
		request.word, reply.word = &b.request, &b.reply
		return request, reply, nil
	case viaEventfd:
		for _, l := range []*link{request, reply} {
			if l.in, err = rt.RawEventfd(true); err != nil {
				return nil, nil, err
			}
			l.out, l.size, l.buf[0] = l.in, 8, 1
		}
	default:
		for _, l := range []*link{request, reply} {
			if l.in, l.out, err = rt.RawPipe(); err != nil {
				return nil, nil, err
			}
			l.size, l.buf[0] = 1, 1
		}
	}
	return request, reply, nil
}

// send hands one message over. hot.
//
//go:nosplit
func (l *link) send() syscall.Errno {
	if l.word != nil {
		atomic.StoreUint32(l.word, 1)
		_, errno := rt.RawFutexWake(l.word, 1)
		return errno
	}
	_, errno := rt.RawWrite(l.out, l.buf[:l.size])
	return errno
}

// receive waits for one message. hot.
//
//go:nosplit
func (l *link) receive() syscall.Errno {
	if l.word == nil {
		var in [8]byte
		for {
			_, errno := rt.RawRead(l.in, in[:l.size])
			if errno != syscall.EINTR {
				return errno
			}
		}
	}
	for atomic.LoadUint32(l.word) == 0 {
		if errno := rt.RawFutexWait(l.word, 0); errno != 0 && errno != syscall.EAGAIN && errno != syscall.EINTR {
			return errno
		}
	}
	atomic.StoreUint32(l.word, 0)
	return 0
}
