package lmbench

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

// switchingFigures are rings of n processes with an array of so many KB each.
func switchingFigures() []figure {
	var out []figure
	for _, c := range []struct{ n, kb int }{{2, 0}, {2, 16}, {2, 64}, {8, 16}, {8, 64}, {16, 16}, {16, 64}} {
		out = append(out, ringFigure(tableSwitching, c.n, c.kb))
	}
	return out
}

func ringFigure(table string, n, kb int) figure {
	return figure{table: table, name: fmt.Sprintf("context_switch_%dp_%dk", n, kb), column: fmt.Sprintf("%dp/%dK ctxsw", n, kb),
		run: func(b *bed) ([]bench.Reading, error) { return contextSwitch(b, n, kb<<10) }}
}

// tokenBytes goes around a ring: a number that every process adds 1 to.
const tokenBytes = 4

// ring is n processes in a circle of n pipes: process i reads pipe i, sums its own array
// and writes pipe i+1. The probe is process 0.
type ring struct {
	wiring
	peers []peer
	token uint32
}

// contextSwitch is the time of a round by the number of processes, minus what the same
// write, read and sum cost within one process.
func contextSwitch(b *bed, n, size int) ([]bench.Reading, error) {
	r, err := newRing(b, n, size)
	if err != nil {
		return nil, err
	}
	alone, err := ownPipes(n)
	if err != nil {
		return nil, joined(err, r.end())
	}
	w := r.wiring
	raw, overhead, err := b.alternate(func(rounds int64) (int64, error) { return r.measure(rounds, n) },
		timed("pipe", func(hops int64) syscall.Errno { return hop(&w, alone, hops) }))
	if err = joined(err, r.end()); err != nil {
		return nil, err
	}
	raw = raw.per(float64(n))
	return []bench.Reading{
		raw.less(overhead).reading("ring over pipes, minus the overhead", median, micros),
		raw.reading("ring over pipes, raw", median, micros),
		overhead.reading("overhead: pipe to oneself and sum", median, micros),
	}, nil
}

// ownPipes are n pipes, as ends to read and to write.
func ownPipes(n int) ([][2]int, error) {
	pipes := make([][2]int, n)
	for i := range pipes {
		r, w, err := rt.RawPipe()
		if err != nil {
			return nil, err
		}
		pipes[i] = [2]int{r, w}
	}
	return pipes, nil
}

func newRing(b *bed, n, size int) (*ring, error) {
	pipes, err := ownPipes(n)
	if err != nil {
		return nil, err
	}
	r := &ring{}
	for i := range n {
		w := wiring{in: pipes[i][0], out: pipes[(i+1)%n][1], buf: make([]byte, tokenBytes)}
		if size > 0 {
			if w.mem, err = rt.RawMemory(size, false); err != nil {
				return nil, joined(err, r.end())
			}
		}
		if i == 0 {
			r.wiring = w
			continue
		}
		p, err := spawn(ringPeer, &w, b.CPU)
		if err != nil {
			return nil, joined(err, r.end())
		}
		r.peers = append(r.peers, p)
	}
	return r, nil
}

// measure sends the token around so many times. Its value proves that every process ran.
func (r *ring) measure(rounds int64, n int) (int64, error) {
	before := r.token
	t := rt.Now()
	errno := r.rounds(rounds)
	t = rt.Now() - t
	if errno != 0 {
		return 0, fmt.Errorf("ring of %d processes: %w", n, errno)
	}
	if want := before + uint32(rounds)*uint32(n); r.token != want {
		return 0, fmt.Errorf("ring of %d processes: after %d rounds the token is %d, not %d", n, rounds, r.token, want)
	}
	return t, nil
}

// hot.
//
//go:nosplit
func (r *ring) rounds(n int64) syscall.Errno {
	for ; n > 0; n-- {
		binary.NativeEndian.PutUint32(r.buf, r.token)
		if put, errno := rt.RawWrite(r.out, r.buf); put != tokenBytes {
			return failed(errno)
		}
		if got, errno := rt.RawRead(r.in, r.buf); got != tokenBytes {
			return failed(errno)
		}
		r.token = binary.NativeEndian.Uint32(r.buf) + 1
		sum(r.mem)
	}
	return 0
}

// ringPeer is the loop of every other process of a ring. hot.
//
//go:nosplit
func ringPeer(w *wiring) {
	for i := 0; i < len(w.mem); i += 4096 {
		w.mem[i] = 1 // a page of its own: until here it is the probe's
	}
	for {
		if n, _ := rt.RawRead(w.in, w.buf); n != tokenBytes {
			return
		}
		sum(w.mem)
		binary.NativeEndian.PutUint32(w.buf, binary.NativeEndian.Uint32(w.buf)+1)
		if n, _ := rt.RawWrite(w.out, w.buf); n != tokenBytes {
			return
		}
	}
}

// hop writes a token into every pipe in turn and reads it back. hot.
//
//go:nosplit
func hop(w *wiring, pipes [][2]int, n int64) syscall.Errno {
	for i := 0; n > 0; n-- {
		if put, errno := rt.RawWrite(pipes[i][1], w.buf); put != tokenBytes {
			return failed(errno)
		}
		if got, errno := rt.RawRead(pipes[i][0], w.buf); got != tokenBytes {
			return failed(errno)
		}
		sum(w.mem)
		if i++; i == len(pipes) {
			i = 0
		}
	}
	return 0
}

// sum reads all of mem, in four sums at a time so that the reading takes the time and not
// the adding. Its length is a multiple of 32. hot.
//
//go:nosplit
//go:noinline
func sum(mem []byte) uint64 {
	var a, b, c, d uint64
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
	for ; len(words) >= 4; words = words[4:] {
		a += words[0]
		b += words[1]
		c += words[2]
		d += words[3]
	}
	return a + b + c + d
}

// end ends all peers.
func (r *ring) end() error {
	var first error
	for _, p := range r.peers {
		first = joined(first, p.end())
	}
	return first
}
