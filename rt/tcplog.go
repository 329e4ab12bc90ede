package rt

import (
	"sync"
	"syscall"
	"time"
)

// TCPLookEvery is how far apart the looks of a TCPLog are at least.
const TCPLookEvery = 100 * time.Millisecond

// resentKept bounds the stretches that a TCPLog keeps; those beyond are counted.
const resentKept = 1000

// TCPLog keeps when the kernel of this end sent segments of one connection again. The
// kernel keeps a number only, so somebody has to look: whoever has just taken a message
// from the connection, which costs one system call in TCPLookEvery and wakes nobody. A
// stretch is therefore as long as nothing came, or TCPLookEvery.
//
// https://man7.org/linux/man-pages/man7/tcp.7.html (TCP_INFO)
type TCPLog struct {
	raw  syscall.RawConn
	made int64
	read func(fd uintptr) // fills info and err

	mu   sync.Mutex // the rest
	at   int64      // of the last look
	info TCPInfo
	err  error
	seen []Resent
	left int64
}

// Resent is a stretch of CLOCK_MONOTONIC, ns, in which segments were sent again.
type Resent struct{ After, Until, Segments int64 }

// TCPState is what a TCPLog knows.
type TCPState struct {
	TCPInfo
	Local, Peer string // host:port; empty once the connection is closed
	Made        int64  // CLOCK_MONOTONIC, ns
	Seen        []Resent
	LeftOut     int64 // stretches beyond those in Seen
	Err         error // of the last look; nil: TCPInfo is of it
}

// NewTCPLog begins with a connection that was made now. Cold.
func NewTCPLog(raw syscall.RawConn, now int64) *TCPLog {
	l := &TCPLog{raw: raw, made: now, at: now}
	l.read = func(fd uintptr) {
		info, err := ReadTCPInfo(fd)
		if l.err = err; err == nil {
			l.info = info
		}
	}
	return l
}

// Look asks the kernel when the last look is TCPLookEvery ago; any goroutine. Warm: it
// allocates only when it asks.
func (l *TCPLog) Look(now int64) {
	if !l.mu.TryLock() { // somebody else looks
		return
	}
	defer l.mu.Unlock()
	if now-l.at >= int64(TCPLookEvery) {
		l.look(now)
	}
}

// look notes what was sent again since the last one. mu is held.
func (l *TCPLog) look(now int64) {
	was := l.info.TotalRetransmits
	if err := l.raw.Control(l.read); err != nil {
		l.err = err
	}
	if l.err != nil {
		return
	}
	if n := l.info.TotalRetransmits - was; n > 0 {
		if len(l.seen) < resentKept {
			l.seen = append(l.seen, Resent{After: l.at, Until: now, Segments: int64(n)})
		} else {
			l.left++
		}
	}
	l.at = now
}

// State looks once more and tells what is known. Cold.
func (l *TCPLog) State(now int64) TCPState {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(now)
	s := TCPState{TCPInfo: l.info, Made: l.made, Seen: append([]Resent(nil), l.seen...), LeftOut: l.left, Err: l.err}
	_ = l.raw.Control(func(fd uintptr) { s.Local, s.Peer = socketNames(fd) }) // Err says that it is closed
	return s
}
