package opcua

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// A measured process works in a heap that is there before the run: its collector is off
// below the limit, and the pages are made and touched in advance, since otherwise every
// 4 MiB of garbage cost a stall of about 1 ms for 1024 page faults. The client's library
// makes about 26 kB of garbage a packet: 6,000 packets fit.
const (
	clientHeap = 192 << 20
	serverHeap = 16 << 20
	heapMargin = 32 << 20 // stacks, and what the runtime itself needs
)

// WarmHeap makes n bytes of heap and touches them: chunk by chunk, then collected, so
// that they are free and resident.
func WarmHeap(n int) {
	const chunk = 1 << 20
	keep := make([][]byte, 0, n/chunk)
	for range n / chunk {
		b := make([]byte, chunk)
		for i := 0; i < chunk; i += 4096 {
			b[i] = 1
		}
		keep = append(keep, b)
	}
	runtime.KeepAlive(keep)
	keep = nil
	runtime.GC()
}

// Become turns the calling process into a measured one: it is executed anew with the
// affinity and policy of p, so that every thread of its runtime has them, and with argv as
// its arguments. With rt auto a refused SCHED_FIFO is tried again without, and again is
// told why. It returns only with an error. cold.
func Become(argv []string, p bench.Process, mode bench.RTMode, again func(reason string) []string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program's own file: %w", err)
	}
	env := append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", p.MaxProcs))
	attr := rt.Attr{CPUs: p.CPUs}
	if p.FIFO > 0 {
		attr.Policy, attr.Priority = rt.FIFO, p.FIFO
	}
	err = rt.Exec(exe, argv, dedupe(env), attr, p.RTTime)
	if p.FIFO == 0 || mode == bench.RTRequire {
		return err
	}
	reason := err.Error()
	return rt.Exec(exe, again(reason), dedupe(env), rt.Attr{CPUs: p.CPUs}, 0)
}

// dedupe keeps the last value of every variable: the runtime reads the first.
func dedupe(env []string) []string {
	slices.Reverse(env)
	seen := map[string]bool{}
	out := env[:0]
	for _, e := range env {
		name, _, _ := cut(e)
		if !seen[name] {
			seen[name] = true
			out = append(out, e)
		}
	}
	return out
}

func cut(e string) (name, value string, ok bool) {
	for i := range len(e) {
		if e[i] == '=' {
			return e[:i], e[i+1:], true
		}
	}
	return e, "", false
}

// process is what every measured process prepares and reports of itself.
type process struct {
	info    bench.ProcessInfo
	latency interface{ Close() error }
}

// prepare locks memory, holds the C-states and quiets the collector. Nothing here is
// silent: what was refused stands in the info.
func prepare(p bench.Process, heap int, rtError string) *process {
	limit := int64(heap + heapMargin)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(limit)
	_ = rt.SetParentDeathSignal() // the control socket's end says the same, only later
	pr := &process{info: bench.ProcessInfo{Name: p.Name, PID: os.Getpid(), MaxProcs: runtime.GOMAXPROCS(0),
		GOGC: "off", MemLimit: limit, Error: rtError, TimerSlack: -1}}
	if err := rt.LockMemory(); err != nil {
		pr.info.LockError = err.Error()
	} else {
		pr.info.Locked = true
	}
	WarmHeap(heap)
	if c, err := rt.HoldCPULatency("/dev/cpu_dma_latency", 0); err != nil {
		pr.info.CState = "not held: " + err.Error()
	} else {
		pr.latency, pr.info.CState = c, "held at 0 us"
	}
	if p.FIFO == 0 || rtError != "" { // a FIFO thread has no slack
		_ = rt.SetTimerSlack(time.Nanosecond) // read back below
	}
	if d, err := rt.TimerSlack(); err == nil {
		pr.info.TimerSlack = int64(d)
	}
	pr.info.BootID, _ = rt.BootID("/")
	pr.info.TimeNS, _ = rt.TimeNamespace("/")
	pr.info.ClockSource, _ = rt.ClockSource("/")
	return pr
}

// read is the info with every thread's policy and place read back from the kernel; task
// is the thread id of the PLC thread, 0 for none.
func (pr *process) read(task int) *bench.ProcessInfo {
	info := pr.info
	tids, err := rt.Threads()
	if err != nil {
		info.Error = fmt.Sprintf("%s; threads not readable: %v", info.Error, err)
	}
	for _, tid := range tids {
		a, err := rt.ReadThread(tid)
		if err != nil {
			continue // it ended meanwhile
		}
		role := "runtime"
		if tid == task {
			role = "plc"
		}
		info.Threads = append(info.Threads, bench.ThreadInfo{TID: tid, Role: role, Policy: a.Policy.String(), Priority: a.Priority, CPUs: a.CPUs})
	}
	return &info
}

// snapshot is the process's accounts now. It stops the world for some µs: the conductor
// asks outside the measuring phase only.
func snapshot() *Snapshot {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := &Snapshot{At: rt.Now(), Mallocs: m.Mallocs, AllocBytes: m.TotalAlloc, HeapInuse: m.HeapInuse,
		Goroutines: runtime.NumGoroutine(), Descriptors: -1, GCs: int64(m.NumGC)}
	if d, err := os.ReadDir("/proc/self/fd"); err == nil {
		s.Descriptors = len(d) - 1 // the one that reads
	}
	s.Pauses = pauses()
	u, user, system := rt.ProcessUsage()
	s.Voluntary, s.Involuntary, s.MinorFaults, s.MajorFaults = u.Voluntary, u.Involuntary, u.MinorFaults, u.MajorFaults
	s.CPU = int64(user + system)
	return s
}

// pauses are the newest collector pauses. It stops nothing.
func pauses() []Pause {
	var st debug.GCStats
	debug.ReadGCStats(&st)
	out := make([]Pause, 0, len(st.Pause))
	for i := len(st.Pause) - 1; i >= 0; i-- { // the library's order is newest first
		out = append(out, Pause{End: st.PauseEnd[i].UnixNano(), NS: int64(st.Pause[i])})
	}
	return out
}

// connection is a connection in the words of a result.
func connection(s rt.TCPState) bench.Connection {
	c := bench.Connection{Local: s.Local, Peer: s.Peer, Made: s.Made, RTT: int64(s.RTT), RTTVar: int64(s.RTTVar), MinRTT: int64(s.MinRTT), RTO: int64(s.RTO),
		Total: int64(s.TotalRetransmits), Seen: bench.Retransmissions{}, LeftOut: s.LeftOut}
	for _, x := range s.Seen {
		c.Seen = append(c.Seen, bench.Retransmission{After: x.After, Until: x.Until, Segments: x.Segments})
	}
	if s.Err != nil {
		c.NA = s.Err.Error()
	}
	return c
}
