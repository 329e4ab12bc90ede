package lmbench

import (
	"encoding/binary"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// The wire format of ONC RPC (RFC 5531) for one procedure that takes and gives a char, as
// the original's: its program, version and procedure, no authentication. Over TCP a record
// mark of 4 bytes precedes each message.
const (
	rpcCallBytes  = 44
	rpcReplyBytes = 28
	rpcMarkBytes  = 4
	rpcLastRecord = 0x80000000
	rpcVersion    = 2
	rpcProgram    = 404040
	rpcChar       = 123
)

const rpcDeviation = "own minimal ONC RPC codec, no libtirpc and no portmapper: cheaper than the original's, not comparable with its column"

func rpcUDPLatency(b *bed) ([]bench.Reading, error) {
	return b.across(func(cpu int) ([]bench.Reading, error) {
		client, server, err := udpPair()
		if err != nil {
			return nil, err
		}
		w := rpcClient{wiring: wiring{in: client, out: client, buf: make([]byte, rpcCallBytes)}}
		out, err := b.echo("RPC (minimal ONC codec), UDP", rpcDatagramPeer, &wiring{in: server, buf: make([]byte, rpcCallBytes)}, cpu, w.calls)
		return deviating(out, rpcDeviation), err
	})
}

func rpcTCPLatency(b *bed) ([]bench.Reading, error) {
	return b.across(func(cpu int) ([]bench.Reading, error) {
		ours, theirs, err := tcpPair()
		if err != nil {
			return nil, err
		}
		defer rt.RawClose(ours)
		defer rt.RawClose(theirs)
		w := rpcClient{wiring: wiring{in: ours, out: ours, buf: make([]byte, rpcMarkBytes+rpcCallBytes)}, mark: rpcMarkBytes}
		out, err := b.echo("RPC (minimal ONC codec), TCP", rpcStreamPeer, &wiring{in: theirs, buf: make([]byte, rpcMarkBytes+rpcCallBytes)}, cpu, w.calls)
		return deviating(out, rpcDeviation), err
	})
}

func deviating(readings []bench.Reading, why string) []bench.Reading {
	for i := range readings {
		remark(&readings[i], why)
	}
	return readings
}

// rpcClient calls and checks each reply.
type rpcClient struct {
	wiring
	mark int // bytes before a message
	xid  uint32
}

// hot.
//
//go:nosplit
func (c *rpcClient) calls(n int64) syscall.Errno {
	for ; n > 0; n-- {
		c.xid++
		size := c.mark + rpcCallBytes
		if c.mark > 0 {
			putWord(c.buf, 0, rpcLastRecord|rpcCallBytes)
		}
		putCall(c.buf[c.mark:], c.xid)
		if put, errno := rt.RawWrite(c.out, c.buf[:size]); put != size {
			return failed(errno)
		}
		size = c.mark + rpcReplyBytes
		if errno := readAll(c.in, c.buf[:size], c.mark == 0); errno != 0 {
			return errno
		}
		if c.mark > 0 && wordAt(c.buf, 0) != rpcLastRecord|rpcReplyBytes || !isReply(c.buf[c.mark:], c.xid) {
			return syscall.EBADMSG
		}
	}
	return 0
}

// readAll fills p, from a stream by as many reads as it needs, from a datagram by one. hot.
//
//go:nosplit
func readAll(fd int, p []byte, datagram bool) syscall.Errno {
	for have := 0; have < len(p); {
		n, errno := rt.RawRead(fd, p[have:])
		if errno != 0 || n <= 0 {
			return failed(errno)
		}
		if have += n; datagram && have < len(p) {
			return syscall.EBADMSG
		}
	}
	return 0
}

// rpcDatagramPeer is the server over UDP. hot.
//
//go:nosplit
func rpcDatagramPeer(w *wiring) {
	var from rt.RawAddress
	for {
		n, _ := rt.RawReceiveFrom(w.in, w.buf, &from)
		if n != rpcCallBytes || !isCall(w.buf) {
			return
		}
		putReply(w.buf)
		if put, _ := rt.RawSendTo(w.in, w.buf[:rpcReplyBytes], &from); put != rpcReplyBytes {
			return
		}
	}
}

// rpcStreamPeer is the server over TCP. hot.
//
//go:nosplit
func rpcStreamPeer(w *wiring) {
	const call, reply = rpcMarkBytes + rpcCallBytes, rpcMarkBytes + rpcReplyBytes
	for {
		if readAll(w.in, w.buf[:call], false) != 0 || wordAt(w.buf, 0) != rpcLastRecord|rpcCallBytes || !isCall(w.buf[rpcMarkBytes:]) {
			return
		}
		putWord(w.buf, 0, rpcLastRecord|rpcReplyBytes)
		putReply(w.buf[rpcMarkBytes:])
		if put, _ := rt.RawWrite(w.in, w.buf[:reply]); put != reply {
			return
		}
	}
}

// The words of a call: xid, CALL, RPC version, program, version, procedure, credentials and
// verifier (none, 0 bytes), the char.
//
//go:nosplit
func putCall(p []byte, xid uint32) {
	putWord(p, 0, xid)
	putWord(p, 1, 0)
	putWord(p, 2, rpcVersion)
	putWord(p, 3, rpcProgram)
	putWord(p, 4, 1)
	putWord(p, 5, 1)
	for i := 6; i < 10; i++ {
		putWord(p, i, 0)
	}
	putWord(p, 10, rpcChar)
}

//go:nosplit
func isCall(p []byte) bool {
	return wordAt(p, 1) == 0 && wordAt(p, 2) == rpcVersion && wordAt(p, 3) == rpcProgram && wordAt(p, 4) == 1 && wordAt(p, 5) == 1 &&
		wordAt(p, 6) == 0 && wordAt(p, 7) == 0 && wordAt(p, 8) == 0 && wordAt(p, 9) == 0
}

// putReply makes the reply of the call in p: xid, REPLY, accepted, verifier (none, 0
// bytes), success, the char.
//
//go:nosplit
func putReply(p []byte) {
	char := wordAt(p, 10)
	putWord(p, 1, 1)
	for i := 2; i < 6; i++ {
		putWord(p, i, 0)
	}
	putWord(p, 6, char)
}

//go:nosplit
func isReply(p []byte, xid uint32) bool {
	return wordAt(p, 0) == xid && wordAt(p, 1) == 1 && wordAt(p, 2) == 0 && wordAt(p, 5) == 0 && wordAt(p, 6) == rpcChar
}

//go:nosplit
func putWord(p []byte, i int, v uint32) { binary.BigEndian.PutUint32(p[4*i:], v) }

//go:nosplit
func wordAt(p []byte, i int) uint32 { return binary.BigEndian.Uint32(p[4*i:]) }
