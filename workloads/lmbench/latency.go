package lmbench

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

func latencyFigures() []figure {
	first := ringFigure(tableLatency, 2, 0)
	first.copies = tableSwitching
	return []figure{
		first,
		{table: tableLatency, name: "pipe", column: "Pipe", run: pipeLatency},
		{table: tableLatency, name: "af_unix", column: "AF UNIX", run: unixLatency},
		{table: tableLatency, name: "udp", column: "UDP", run: udpLatency},
		{table: tableLatency, name: "rpc_udp", column: "RPC/ UDP", run: rpcUDPLatency},
		{table: tableLatency, name: "tcp", column: "TCP", run: tcpLatency},
		{table: tableLatency, name: "rpc_tcp", column: "RPC/ TCP", run: rpcTCPLatency},
		{table: tableLatency, name: "tcp_connect", column: "TCP conn", run: tcpConnect},
	}
}

// replyLimit is how long a datagram may be on its way: one that is lost would be waited
// for for ever.
const replyLimit = time.Second

// echo measures round trips with a peer that runs body on w: trips does n of them.
func (b *bed) echo(what string, body func(*wiring), w *wiring, cpu int, trips func(n int64) syscall.Errno) ([]bench.Reading, error) {
	p, err := spawn(body, w, cpu)
	if err != nil {
		return nil, err
	}
	s, err := b.repeat(timed(what, trips))
	if err = joined(err, p.end()); err != nil {
		return nil, err
	}
	return []bench.Reading{s.reading(what, median, micros)}, nil
}

func pipeLatency(b *bed) ([]bench.Reading, error) {
	return b.across(func(cpu int) ([]bench.Reading, error) {
		theirs, ours, err := rt.RawPipe()
		if err != nil {
			return nil, err
		}
		back, answer, err := rt.RawPipe()
		if err != nil {
			return nil, err
		}
		w := wiring{in: back, out: ours, buf: make([]byte, 1)}
		return b.echo("1 byte, two pipes", echoPeer, &wiring{in: theirs, out: answer, buf: make([]byte, 1)}, cpu,
			func(n int64) syscall.Errno { return trips(&w, n) })
	})
}

func unixLatency(b *bed) ([]bench.Reading, error) {
	return b.across(func(cpu int) ([]bench.Reading, error) {
		ours, theirs, err := rt.RawSocketPair()
		if err != nil {
			return nil, err
		}
		w := wiring{in: ours, out: ours, buf: make([]byte, 1)}
		return b.echo("1 byte, UNIX stream socket", echoPeer, &wiring{in: theirs, out: theirs, buf: make([]byte, 1)}, cpu,
			func(n int64) syscall.Errno { return trips(&w, n) })
	})
}

func tcpLatency(b *bed) ([]bench.Reading, error) {
	return b.across(func(cpu int) ([]bench.Reading, error) {
		ours, theirs, err := tcpPair()
		if err != nil {
			return nil, err
		}
		defer rt.RawClose(ours)
		defer rt.RawClose(theirs)
		w := wiring{in: ours, out: ours, buf: make([]byte, 1)}
		return b.echo("1 byte, TCP on the loopback", echoPeer, &wiring{in: theirs, out: theirs, buf: make([]byte, 1)}, cpu,
			func(n int64) syscall.Errno { return trips(&w, n) })
	})
}

// echoPeer writes back what it reads. hot.
//
//go:nosplit
func echoPeer(w *wiring) {
	for {
		n, _ := rt.RawRead(w.in, w.buf)
		if n <= 0 {
			return
		}
		if put, _ := rt.RawWrite(w.out, w.buf[:n]); put != n {
			return
		}
	}
}

// trips writes w.buf and reads as much back, n times. hot.
//
//go:nosplit
func trips(w *wiring, n int64) syscall.Errno {
	for ; n > 0; n-- {
		if put, errno := rt.RawWrite(w.out, w.buf); put != len(w.buf) {
			return failed(errno)
		}
		if got, errno := rt.RawRead(w.in, w.buf); got != len(w.buf) {
			return failed(errno)
		}
	}
	return 0
}

// tcpPair is a connection over the loopback, with the system's default options.
func tcpPair() (ours, theirs int, err error) {
	l, port, err := rt.RawListen(1)
	if err != nil {
		return -1, -1, err
	}
	defer rt.RawClose(l)
	ours, errno := rt.RawSocket(true)
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

// udpPair is a connected client and a server that answers whoever asks.
func udpPair() (client, server int, err error) {
	server, port, err := rt.RawUDP(time.Hour)
	if err != nil {
		return -1, -1, err
	}
	client, _, err = rt.RawUDP(replyLimit)
	if err != nil {
		return -1, -1, err
	}
	to := rt.LoopbackAddress(1, port)
	if errno := rt.RawConnect(client, &to); errno != 0 {
		return -1, -1, fmt.Errorf("connect UDP to 127.0.0.1:%d: %w", port, errno)
	}
	return client, server, nil
}

func udpLatency(b *bed) ([]bench.Reading, error) {
	return b.across(func(cpu int) ([]bench.Reading, error) {
		client, server, err := udpPair()
		if err != nil {
			return nil, err
		}
		w := wiring{in: client, buf: make([]byte, 4)}
		var sequence uint32
		return b.echo("4 bytes, UDP on the loopback", datagramPeer, &wiring{in: server, buf: make([]byte, 4)}, cpu,
			func(n int64) syscall.Errno { return datagrams(&w, &sequence, n) })
	})
}

// datagramPeer answers each datagram to its sender. hot.
//
//go:nosplit
func datagramPeer(w *wiring) {
	var from rt.RawAddress
	for {
		n, _ := rt.RawReceiveFrom(w.in, w.buf, &from)
		if n <= 0 {
			return
		}
		if put, _ := rt.RawSendTo(w.in, w.buf[:n], &from); put != n {
			return
		}
	}
}

// datagrams sends numbered datagrams and waits for each to come back. hot.
//
//go:nosplit
func datagrams(w *wiring, sequence *uint32, n int64) syscall.Errno {
	for ; n > 0; n-- {
		*sequence++
		binary.BigEndian.PutUint32(w.buf, *sequence)
		if put, errno := rt.RawWrite(w.in, w.buf); put != len(w.buf) {
			return failed(errno)
		}
		if got, errno := rt.RawRead(w.in, w.buf); got != len(w.buf) {
			return failed(errno)
		}
		if binary.BigEndian.Uint32(w.buf) != *sequence {
			return syscall.EBADMSG
		}
	}
	return 0
}
