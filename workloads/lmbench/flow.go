package lmbench

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// Bytes of a flow between two processes.
const (
	flowBlock = 64 * kib // of one read or write
	flowBytes = 10 * mib // of one operation
	// flowOffset is how far the reader's buffer is off the start of a page, as in bw_pipe.
	flowOffset = 128
	// flowBuffer is what bw_tcp asks for on both sides of its socket.
	flowBuffer = mib
)

// flowEnough is the shortest interval: both processes get the CPU many times in it. The
// original takes 1 to 2 s.
const flowEnough = 100 * time.Millisecond

// flow is one measured flow: the reader's side in the probe, the writer's in a peer.
type flow struct {
	in      int // read here
	out     int // written here by the peer
	ask, to int // a pipe by which the reader asks for each operation's bytes; ask 0: it does not
}

// flows measures how fast a peer's writes come through.
func (b *bed) flows(mechanism string, connect func() (flow, string, error)) ([]bench.Reading, error) {
	enough := b.enough
	if !b.Quick {
		b.enough = max(enough, int64(flowEnough))
	}
	defer func() { b.enough = enough }()
	buffers, err := rt.RawMemory(3*flowBlock, false)
	if err != nil {
		return nil, err
	}
	return b.across(func(cpu int) ([]bench.Reading, error) {
		f, note, err := connect()
		if err != nil {
			return nil, err
		}
		r, err := b.flow(f, buffers, mechanism, cpu)
		closeAll(f.in, f.ask)
		if note != "" {
			remark(&r, note)
		}
		return []bench.Reading{r}, err
	})
}

func (b *bed) flow(f flow, buffers []byte, mechanism string, cpu int) (bench.Reading, error) {
	writer := &wiring{in: f.to, out: f.out, buf: buffers[:flowBlock]}
	reader := &wiring{in: f.in, out: f.ask, buf: buffers[flowBlock+flowOffset:][:flowBlock]}
	body := pourPeer
	if f.ask > 0 {
		body = servePeer
	}
	p, err := spawn(body, writer, cpu)
	closeAll(f.out, f.to) // the end of the peer is the end of what it writes
	if err != nil {
		return bench.Reading{}, err
	}
	s, err := b.stream(flowBytes, timed(mechanism, func(n int64) syscall.Errno { return drain(reader, n) }))
	if err = joined(err, p.end()); err != nil {
		return bench.Reading{}, err
	}
	return s.reading(mechanism, median, megabytes), nil
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		if fd > 0 {
			rt.RawClose(fd)
		}
	}
}

func pipeBandwidth(b *bed) ([]bench.Reading, error) {
	return b.flows("pipe, blocks of 64 KiB", func() (flow, string, error) {
		r, w, err := rt.RawPipe()
		return flow{in: r, out: w}, "", err
	})
}

func unixBandwidth(b *bed) ([]bench.Reading, error) {
	return b.flows("UNIX stream socket, blocks of 64 KiB", func() (f flow, note string, err error) {
		if f.in, f.out, err = rt.RawSocketPair(); err != nil {
			return f, "", err
		}
		f.to, f.ask, err = rt.RawPipe()
		return f, "", err
	})
}

func tcpBandwidth(b *bed) ([]bench.Reading, error) {
	return b.flows("TCP on the loopback, blocks of 64 KiB", func() (flow, string, error) {
		ours, theirs, err := largePair()
		if err != nil {
			return flow{}, "", err
		}
		note, err := clamped(ours, theirs)
		return flow{in: ours, out: theirs}, note, err
	})
}

// largePair is a connection over the loopback whose buffers are as large as the original
// asks for; both ends know before they agree on a window.
func largePair() (ours, theirs int, err error) {
	l, port, err := rt.RawListen(1)
	if err != nil {
		return -1, -1, err
	}
	defer rt.RawClose(l)
	ours, errno := rt.RawSocket(true)
	for _, fd := range []int{l, ours} {
		for _, option := range []int{rt.SocketReceiveBuffer, rt.SocketSendBuffer} {
			if errno == 0 {
				errno = rt.RawSetSocketOption(fd, option, flowBuffer)
			}
		}
	}
	to := rt.LoopbackAddress(1, port)
	if errno == 0 {
		errno = rt.RawConnect(ours, &to)
	}
	if errno == 0 {
		theirs, errno = rt.RawAccept(l)
	}
	if errno != 0 {
		return -1, -1, fmt.Errorf("connect to 127.0.0.1:%d: %w", port, errno)
	}
	return ours, theirs, nil
}

// clamped says what became of the buffers; the kernel keeps twice of what it grants.
func clamped(reader, writer int) (string, error) {
	receive, err := rt.RawSocketOption(reader, rt.SocketReceiveBuffer)
	if err != nil {
		return "", err
	}
	send, err := rt.RawSocketOption(writer, rt.SocketSendBuffer)
	if err != nil {
		return "", err
	}
	if receive >= 2*flowBuffer && send >= 2*flowBuffer {
		return "", nil
	}
	return fmt.Sprintf("1 MiB was asked for as buffers of the sockets; the kernel granted %s to receive and %s to send (net.core.rmem_max, wmem_max)",
		sizeText(int64(receive/2)), sizeText(int64(send/2))), nil
}

// pourPeer writes blocks for ever. hot.
//
//go:nosplit
func pourPeer(w *wiring) {
	for pour(w, flowBlock) {
	}
}

// servePeer writes as many bytes as it is asked for. hot.
//
//go:nosplit
func servePeer(w *wiring) {
	var asked [8]byte
	for {
		if n, _ := rt.RawRead(w.in, asked[:]); n != len(asked) {
			return
		}
		if !pour(w, int(binary.LittleEndian.Uint64(asked[:]))) {
			return
		}
	}
}

// pour writes so many bytes. hot.
//
//go:nosplit
func pour(w *wiring, bytes int) bool {
	for bytes > 0 {
		n, _ := rt.RawWrite(w.out, w.buf[:min(len(w.buf), bytes)])
		if n <= 0 {
			return false
		}
		bytes -= n
	}
	return true
}

// drain reads flowBytes n times, each asked for if there is a way to. hot.
//
//go:nosplit
func drain(w *wiring, n int64) syscall.Errno {
	var asked [8]byte
	binary.LittleEndian.PutUint64(asked[:], flowBytes)
	for ; n > 0; n-- {
		if w.out > 0 {
			if put, errno := rt.RawWrite(w.out, asked[:]); put != len(asked) {
				return failed(errno)
			}
		}
		for left := flowBytes; left > 0; {
			got, errno := rt.RawRead(w.in, w.buf[:min(len(w.buf), left)])
			if got <= 0 {
				return failed(errno)
			}
			left -= got
		}
	}
	return 0
}
