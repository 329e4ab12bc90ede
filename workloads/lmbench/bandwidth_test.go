package lmbench

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
	"opcycle/rt"
)

// movers are the timed loops of files, bandwidths and latencies with something to work on,
// and how often at most in a row.
func movers(t testing.TB) map[string]func(n int64) syscall.Errno {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	to, err := rt.RawMemory(16*kib, false)
	must(err)
	from, err := rt.RawMemory(16*kib, false)
	must(err)
	tr, err := newTree(t.TempDir(), 100)
	must(err)
	content := make([]byte, tenK)
	fd, err := folder{t.TempDir(), "this"}.cachedFile(mmapBytes)
	must(err)
	pages := pageOrder(faultBytes)
	t.Cleanup(func() {
		_, _, _ = rt.FreeMemory(to), rt.FreeMemory(from), tr.remove()
		rt.RawClose(fd)
	})
	quiet := func(loop func(to, from []byte, n int64)) func(int64) syscall.Errno {
		return func(n int64) syscall.Errno { loop(to, from, n); return 0 }
	}
	return map[string]func(n int64) syscall.Errno{
		"moves":         quiet(moves),
		"string copies": quiet(stringCopies),
		"int copies":    quiet(intCopies),
		"int sums":      quiet(intSums),
		"fourth sums":   quiet(fourthSums),
		"int stores":    quiet(intStores),
		"word sums":     func(n int64) syscall.Errno { return wordSums(to, n) },
		"rereads":       func(n int64) syscall.Errno { return rereads(fd, to, mib, n) },
		"maps":          func(n int64) syscall.Errno { return maps(fd, n) },
		"touches":       func(n int64) syscall.Errno { return touches(fd, pages, n) },
		"files": func(n int64) syscall.Errno {
			for range n {
				if errno := tr.makeFiles(content, 1); errno != 0 {
					return errno
				}
				if errno := tr.deleteFiles(1); errno != 0 {
					return errno
				}
			}
			return 0
		},
	}
}

func TestMoversDoNotAllocate(t *testing.T) {
	for name, loop := range movers(t) {
		if n := testing.AllocsPerRun(5, func() {
			if errno := loop(2); errno != 0 {
				t.Error(errno)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkMovers(b *testing.B) {
	for name, loop := range movers(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			if errno := loop(int64(b.N)); errno != 0 {
				b.Error(errno)
			}
		})
	}
}

func TestCopiesCopy(t *testing.T) {
	for name, loop := range map[string]func(to, from []byte, n int64){"moves": moves, "string": stringCopies, "ints": intCopies} {
		if name == "string" && rt.StringCopy == "" {
			continue
		}
		to, from := make([]byte, 4096), make([]byte, 4096)
		for i := range from {
			from[i] = byte(i * 7)
		}
		loop(to, from, 2)
		if string(to) != string(from) {
			t.Errorf("%s: another content", name)
		}
	}
}

// bandwidth is the bytes of one part by the time of one operation.
func TestPasses(t *testing.T) {
	b := alone(t)
	b.Root, b.Caches = "/", cachesOf(48*kib, mib, 8*mib)
	var parts []int
	rows, err := b.passes(2, []pass{{"a way", func(to, from []byte, n int64) {
		parts = append(parts, len(to), len(from))
		intCopies(to, from, n)
	}, 2, "a remark"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || !strings.Contains(rows[0].Mechanism, "a way, 32 MiB") || !strings.Contains(rows[1].Mechanism, "a way, 12 KiB") {
		t.Fatalf("%+v", rows)
	}
	for _, r := range rows {
		if r.Value == nil || r.Unit != megabytes || !strings.Contains(r.Deviation, "a remark") {
			t.Errorf("%+v", r)
		}
	}
	for _, n := range parts {
		if n != 32*mib && n != 12*kib {
			t.Errorf("a part of %d bytes", n)
		}
	}
}

// Every byte that is asked for comes, no more, and the writer's end is an error.
func TestDrain(t *testing.T) {
	for name, asking := range map[string]bool{"asked for": true, "poured": false} {
		t.Run(name, func(t *testing.T) {
			buffers := make([]byte, 3*flowBlock)
			data, out, err := rt.RawPipe()
			if err != nil {
				t.Fatal(err)
			}
			to, ask, err := rt.RawPipe()
			if err != nil {
				t.Fatal(err)
			}
			body, w := pourPeer, &wiring{in: data, buf: buffers[flowBlock+flowOffset:][:flowBlock]}
			if asking {
				body, w.out = servePeer, ask
			}
			p, err := spawn(body, &wiring{in: to, out: out, buf: buffers[:flowBlock]}, noCPU)
			if err != nil {
				t.Fatal(err)
			}
			closeAll(out, to)
			if errno := drain(w, 3); errno != 0 {
				t.Error(errno)
			}
			if err := p.end(); err != nil {
				t.Error(err)
			}
			rest := 0
			for {
				n, errno := rt.RawRead(data, buffers)
				if n <= 0 && errno != syscall.EINTR {
					break
				}
				rest += max(n, 0)
			}
			if asking && rest != 0 {
				t.Errorf("%d bytes more than were asked for", rest)
			}
			if asking {
				w.out = 0
			}
			if errno := drain(w, 1); errno == 0 {
				t.Error("a writer that has ended has no error")
			}
			closeAll(data, ask)
		})
	}
}

func TestFlows(t *testing.T) {
	for name, run := range map[string]func(*bed) ([]bench.Reading, error){"pipe": pipeBandwidth, "unix": unixBandwidth, "tcp": tcpBandwidth} {
		b := alone(t)
		rows, err := run(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(rows) != 1 || rows[0].Value == nil || *rows[0].Value <= 0 || !strings.HasPrefix(rows[0].Placement, "same CPU") {
			t.Errorf("%s: %+v", name, rows)
		}
		*b.stop = 1
		if _, err := run(b); !errors.Is(err, errStopped) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
