package rt

import (
	"encoding/binary"
	"net"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shown is one call of a sink.
type shown struct {
	stamp, now int64 // CLOCK_REALTIME, ns
	id         uint64
	size, tid  int
}

// watched is a loopback pair with a stamper on its receiving end.
func watched(t *testing.T) (out, in *net.TCPConn, s *Stamper, sink chan shown) {
	t.Helper()
	out, in = loopback(t)
	sink = make(chan shown, 1000)
	s, err := NewStamper(descriptor(t, in), 0, func(stamp int64, head []byte) {
		sink <- shown{stamp, time.Now().UnixNano(), binary.LittleEndian.Uint64(head), len(head), Gettid()}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return out, in, s, sink
}

// exchange sends message id, waits until the sink has it, then reads it. Not stamped is
// (shown{}, false): the kernel switches stamping on some time after the first socket asks.
func exchange(t *testing.T, out, in *net.TCPConn, s *Stamper, sink chan shown, id uint64) (shown, bool) {
	t.Helper()
	msg := make([]byte, 140)
	binary.LittleEndian.PutUint64(msg, id)
	unstamped := s.Counts().Unstamped
	if _, err := out.Write(msg); err != nil {
		t.Fatal(err)
	}
	var got shown
	ok := false
	for deadline := time.Now().Add(10 * time.Second); !ok && s.Counts().Unstamped == unstamped; {
		select {
		case got = <-sink:
			ok = true
		default:
			runtime.Gosched()
			if time.Now().After(deadline) {
				t.Fatalf("message %d: nothing seen; %+v", id, s.Counts())
			}
		}
	}
	for n := 0; n < len(msg); {
		k, err := in.Read(msg[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if binary.LittleEndian.Uint64(msg) != id {
		t.Fatalf("the reader lost message %d", id)
	}
	return got, ok
}

// firstStamped exchanges messages until one is stamped.
func firstStamped(t *testing.T, out, in *net.TCPConn, s *Stamper, sink chan shown) shown {
	t.Helper()
	for id := uint64(1); id < 10_000; id++ {
		if got, ok := exchange(t, out, in, s, sink, id); ok {
			return got
		}
	}
	t.Fatalf("no message is stamped: %+v", s.Counts())
	return shown{}
}

func TestStamperTellsTheKernelsInstant(t *testing.T) {
	out, in, s, sink := watched(t)
	firstStamped(t, out, in, s, sink)
	const messages = 20
	for id := uint64(1 << 32); id < 1<<32+messages; id++ {
		before := time.Now().UnixNano()
		got, ok := exchange(t, out, in, s, sink, id)
		if !ok {
			t.Errorf("message %d: no stamp, after others had one", id)
			continue
		}
		if got.id != id || got.size != 140 {
			t.Errorf("message %d: shown as %d, %d bytes", id, got.id, got.size)
		}
		const slack = 1000 // the kernel and the vDSO round the same counter separately
		if got.stamp < before-slack || got.stamp > got.now+slack {
			t.Errorf("message %d: sent after %d, stamped %d, shown at %d", id, before, got.stamp, got.now)
		}
		if got.tid == Gettid() {
			t.Error("the sink ran on the reader's thread")
		}
	}
	if c := s.Counts(); c.Events < messages+1+c.Missed+c.Unstamped {
		t.Errorf("%d shown, but %+v", messages+1, c)
	}
}

func TestStamperCloseEndsTheThread(t *testing.T) {
	before := openDescriptors(t)
	out, in, s, sink := watched(t)
	tid := firstStamped(t, out, in, s, sink).tid
	s.Close()
	s.Close()
	if _, err := out.Write([]byte("after the end")); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		tids, err := Threads()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(tids, tid) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("thread %d still there", tid)
		}
	}
	if len(sink) != 0 {
		t.Error("shown after Close")
	}
	if after := openDescriptors(t); after != before+2 { // the two ends of the connection
		t.Errorf("%d descriptors before, %d after, of which 2 are the connection's", before, after)
	}
}

func TestStamperSurvivesTheEndOfTheConnection(t *testing.T) {
	out, in, s, _ := watched(t)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(make([]byte, 1)); err == nil {
		t.Error("read from a closed connection")
	}
	s.Close()
}

func TestNewStamperRefusedLeavesNothing(t *testing.T) {
	_, in := loopback(t)
	fd := descriptor(t, in)
	before := openDescriptors(t)
	if _, err := NewStamper(fd, 200, func(int64, []byte) {}); err == nil {
		t.Error("priority 200 accepted")
	}
	if _, err := NewStamper(^uintptr(0), 0, func(int64, []byte) {}); err == nil {
		t.Error("no descriptor accepted")
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestStamperAllocatesNothing(t *testing.T) {
	a, b := loopback(t)
	out, in := descriptor(t, a), descriptor(t, b)
	var calls atomic.Int64
	s, err := NewStamper(in, 0, func(int64, []byte) { calls.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	msg, buf := make([]byte, 140), make([]byte, 140)
	if n := testing.AllocsPerRun(200, func() {
		seen := s.Counts().Events
		_, _ = SendNow(out, msg)
		for s.Counts().Events == seen {
			runtime.Gosched()
		}
		_, _ = syscall.Read(int(in), buf)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	if calls.Load() == 0 && s.Counts().Unstamped == 0 {
		t.Errorf("the sink was not called: %+v", s.Counts())
	}
}

// control appends one control message to oob.
func control(oob []byte, level, kind int32, data ...int64) []byte {
	size := unix.SizeofCmsghdr + 8*len(data)
	h := unix.Cmsghdr{Level: level, Type: kind}
	h.SetLen(size)
	oob = append(oob, (*[unix.SizeofCmsghdr]byte)(unsafe.Pointer(&h))[:]...)
	for _, d := range data {
		oob = binary.NativeEndian.AppendUint64(oob, uint64(d))
	}
	return oob
}

func TestStampOf(t *testing.T) {
	stamp := control(nil, unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, 5, 7)
	lying := slices.Clone(stamp)
	lying[0] = 200
	tiny := slices.Clone(stamp)
	tiny[0] = 1
	for name, c := range map[string]struct {
		oob  []byte
		want int64
		ok   bool
	}{
		"alone":             {stamp, 5_000_000_007, true},
		"after another":     {append(control(nil, unix.SOL_IP, unix.IP_TTL, 64), stamp...), 5_000_000_007, true},
		"none":              {nil, 0, false},
		"another only":      {control(nil, unix.SOL_IP, unix.IP_TTL, 64), 0, false},
		"cut":               {stamp[:len(stamp)-1], 0, false},
		"longer than told":  {lying, 0, false},
		"shorter than head": {tiny, 0, false},
		"too short":         {control(nil, unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, 5), 0, false},
	} {
		if got, ok := stampOf(c.oob); got != c.want || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", name, got, ok, c.want, c.ok)
		}
	}
}
