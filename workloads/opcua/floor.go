package opcua

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// The floor: what the machine itself costs between two processes, with nothing of OPC UA
// in them (metrics.md, "The floor"). The sender wakes on a grid by clock_nanosleep,
// stamps and writes; the receiver stamps after its blocking read returns.

// FloorSamples is what one end of the floor measured, ns.
type FloorSamples struct {
	WakeUp   []int64            `json:"wake_up,omitempty"`  // sender: W − S by raw clock_nanosleep
	Transmit []int64            `json:"transmit,omitempty"` // receiver: its stamp − the sender's
	Info     *bench.ProcessInfo `json:"info"`
}

// floorWait bounds how long either end waits for the other.
const floorWait = 5 * time.Second

// FloorReceive is process B: it listens, tells its address, and answers the floor order
// with the transmit times. cold around the measured loop.
func FloorReceive(ctl *Control, rtError string) error {
	pr := (*process)(nil)
	var ln *net.TCPListener
	return serveOrders(ctl, func(o Order) (Reply, bool) {
		switch o.Do {
		case DoStart:
			pr = prepare(floorProcess(*o.Plan, bench.ProcessClient), 0, rtError)
			l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				return Reply{Error: fmt.Sprintf("floor: listen on loopback: %v", err)}, true
			}
			ln = l
			return Reply{Endpoint: l.Addr().String()}, false
		case DoFloor:
			s, err := receiveFloor(ln, o)
			if err != nil {
				return Reply{Error: err.Error()}, true
			}
			s.Info = pr.read(0)
			return Reply{Floor: s}, true
		}
		return Reply{Error: fmt.Sprintf("floor: unknown order %q", o.Do)}, true
	})
}

// FloorSend is process A: it connects, wakes on the grid and writes.
func FloorSend(ctl *Control, rtError string) error {
	pr := (*process)(nil)
	var conn *net.TCPConn
	return serveOrders(ctl, func(o Order) (Reply, bool) {
		switch o.Do {
		case DoStart:
			pr = prepare(floorProcess(*o.Plan, bench.ProcessServer), 0, rtError)
			c, err := net.DialTimeout("tcp", o.Target, floorWait)
			if err != nil {
				return Reply{Error: fmt.Sprintf("floor: connect to %s: %v", o.Target, err)}, true
			}
			conn = c.(*net.TCPConn)
			return Reply{}, false
		case DoFloor:
			s, err := sendFloor(conn, o)
			if err != nil {
				return Reply{Error: err.Error()}, true
			}
			s.Info = pr.read(0)
			return Reply{Floor: s}, true
		}
		return Reply{Error: fmt.Sprintf("floor: unknown order %q", o.Do)}, true
	})
}

func floorProcess(p bench.Plan, stands string) bench.Process {
	pr := p.Client
	if stands == bench.ProcessServer {
		pr = p.Server
	}
	pr.Name = "floor for " + stands
	return pr
}

// blocking returns conn's descriptor in blocking mode: the measured thread waits in the
// kernel, not in the runtime's poller.
func blocking(conn *net.TCPConn) (*os.File, uintptr, error) {
	f, err := conn.File()
	if err != nil {
		return nil, 0, fmt.Errorf("floor: the socket's descriptor: %w", err)
	}
	return f, f.Fd(), nil // Fd sets blocking mode
}

func receiveFloor(ln *net.TCPListener, o Order) (*FloorSamples, error) {
	defer ln.Close()
	_ = ln.SetDeadline(time.Now().Add(floorWait))
	conn, err := ln.AcceptTCP()
	if err != nil {
		return nil, fmt.Errorf("floor: accept: %w", err)
	}
	defer conn.Close()
	f, fd, err := blocking(conn)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, o.Bytes)
	s := &FloorSamples{Transmit: make([]int64, 0, o.Periods)}
	for range o.Periods {
		if err := rt.ReadFull(fd, buf); err != nil { // hot from here to the append
			return nil, fmt.Errorf("floor: read: %w", err)
		}
		s.Transmit = append(s.Transmit, rt.Now()-int64(binary.LittleEndian.Uint64(buf)))
	}
	return s, nil
}

func sendFloor(conn *net.TCPConn, o Order) (*FloorSamples, error) {
	defer conn.Close()
	f, fd, err := blocking(conn)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, o.Bytes)
	s := &FloorSamples{WakeUp: make([]int64, 0, o.Periods)}
	k := o.Grid.Next(rt.Now() + 20e6)
	for range o.Periods {
		due := o.Grid.Due(k)
		if err := rt.NanosleepUntil(due); err != nil { // hot from here to the write
			return nil, fmt.Errorf("floor: clock_nanosleep: %w", err)
		}
		now := rt.Now()
		s.WakeUp = append(s.WakeUp, now-due)
		binary.LittleEndian.PutUint64(buf, uint64(now))
		if err := rt.WriteFull(fd, buf); err != nil {
			return nil, fmt.Errorf("floor: write: %w", err)
		}
		k = max(k+1, o.Grid.Next(rt.Now()))
	}
	return s, nil
}
