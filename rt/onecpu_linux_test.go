package rt

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
)

// stamperSeen is what childStamper prints.
type stamperSeen struct {
	Counts StamperCounts
	Thread Attr     // of the sink
	Shown  []uint64 // the messages, in the order of the sink's calls
}

const stamperMessages = 200

// childStamper sends itself messages one at a time through a watched connection.
func childStamper() error {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	out, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return err
	}
	in, err := l.AcceptTCP()
	if err != nil {
		return err
	}
	raw, err := in.SyscallConn()
	if err != nil {
		return err
	}
	var seen stamperSeen
	var s *Stamper
	var failed error
	if err := raw.Control(func(fd uintptr) {
		s, err = NewStamper(fd, 6, func(_ int64, head []byte) {
			seen.Thread, failed = ReadThread(0)
			seen.Shown = append(seen.Shown, binary.LittleEndian.Uint64(head))
		})
	}); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	// The reader is a goroutine that parks before the next message is sent: one that reads
	// without parking would always be first, for it has the only P already.
	turn := make(chan error)
	go func() {
		msg := make([]byte, 140)
		for range stamperMessages {
			_, err := io.ReadFull(in, msg)
			turn <- err
		}
	}()
	msg := make([]byte, 140)
	for id := range uint64(stamperMessages) {
		binary.LittleEndian.PutUint64(msg, id)
		if _, err := out.Write(msg); err != nil {
			return err
		}
		if err := <-turn; err != nil {
			return err
		}
		runtime.Gosched()
	}
	s.Close()
	seen.Counts = s.Counts()
	return errors.Join(failed, json.NewEncoder(os.Stdout).Encode(seen))
}

// One CPU, one P, two real-time priorities: the reader must not hang behind the watcher,
// nor the watcher behind the reader.
func TestStamperOnOneCPU(t *testing.T) {
	needFIFO(t)
	// A stamped socket of ours, so that the kernel stamps before the child starts.
	out, in, s, sink := watched(t)
	firstStamped(t, out, in, s, sink)
	var seen stamperSeen
	if err := json.Unmarshal(child(t, "become", nil, nextEnv+"=stamper"), &seen); err != nil {
		t.Fatal(err)
	}
	if seen.Thread.Policy != FIFO || seen.Thread.Priority != 6 || len(seen.Thread.CPUs) != 1 {
		t.Errorf("the sink ran as %+v, want SCHED_FIFO 6 on one CPU", seen.Thread)
	}
	if len(seen.Shown) == 0 || !slices.IsSorted(seen.Shown) || seen.Shown[len(seen.Shown)-1] >= stamperMessages {
		t.Errorf("messages shown: %v", seen.Shown)
	}
	t.Logf("%d of %d messages shown, %+v", len(seen.Shown), stamperMessages, seen.Counts)
}
