package rt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stretch goes from the look before to the look that saw more; looks that are too close
// are none.
func TestTCPLog(t *testing.T) {
	a, _ := loopback(t)
	raw, err := a.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	l := NewTCPLog(raw, 1000)
	var total uint32
	l.read = func(uintptr) { l.info.TotalRetransmits, l.err = total, nil }
	const every = int64(TCPLookEvery)
	for _, step := range []struct {
		at    int64
		total uint32
	}{{1000 + every - 1, 1}, {1000 + every, 1}, {1000 + 2*every, 1}, {1000 + 3*every, 4}} {
		total = step.total
		l.Look(step.at)
	}
	total = 5
	s := l.State(1001 + 3*every)
	want := []Resent{{1000, 1000 + every, 1}, {1000 + 2*every, 1000 + 3*every, 3}, {1000 + 3*every, 1001 + 3*every, 1}}
	if diff := cmp.Diff(want, s.Seen); diff != "" {
		t.Error(diff)
	}
	if s.Local != a.LocalAddr().String() || s.Peer != a.RemoteAddr().String() || s.Err != nil || s.TotalRetransmits != 5 || s.Made != 1000 {
		t.Errorf("%+v", s)
	}
	for i := range int64(resentKept) {
		total++
		l.Look(2000 + (4+i)*every)
	}
	if s := l.State(1 << 60); len(s.Seen) != resentKept || s.LeftOut != 3 {
		t.Errorf("%d kept, %d left out", len(s.Seen), s.LeftOut)
	}
}

// A closed connection is an error, not a quiet one.
func TestTCPLogOfAClosedConnection(t *testing.T) {
	a, _ := loopback(t)
	raw, err := a.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	l := NewTCPLog(raw, 0)
	if s := l.State(1); s.Err != nil || s.RTO <= 0 || s.Local == "" {
		t.Errorf("%+v", s)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if s := l.State(2); s.Err == nil || s.Local != "" {
		t.Errorf("closed: %+v", s)
	}
}
