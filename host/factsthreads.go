package host

import (
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
)

// ThreadFacts are the threads that can be seen from this process's PID namespace.
type ThreadFacts struct {
	Seen    int // how many, ours left out
	Threads []Thread
}

// Thread is one thread of somebody else, as its stat says.
type Thread struct {
	PID, TID int
	Name     string
	CPU      int // that it ran on last
	Kernel   bool
	Bound    bool  // a kernel thread that can't be moved: one of each CPU's own
	Policy   int   // the kernel's number
	Priority int   // of a real-time policy
	Ticks    int64 // of CPU time so far, of 10 ms each at the usual 100 a second
}

// Bits of the flags in stat (include/linux/sched.h).
const (
	flagKernelThread = 0x00200000
	flagNoAffinity   = 0x04000000
)

// threadFacts lists them. What ends meanwhile is not there.
func (t *tree) threadFacts() ThreadFacts {
	var out ThreadFacts
	own := ownProcess(t.maybe("proc/self/status"))
	for _, p := range t.entries("proc") {
		pid, err := strconv.Atoi(p)
		if err != nil || p == own {
			continue
		}
		for _, task := range t.entries("proc/" + p + "/task") {
			x, ok := parseStat(t.maybe("proc/" + p + "/task/" + task + "/stat"))
			if ok {
				x.PID = pid
				out.Threads = append(out.Threads, x)
			}
		}
	}
	out.Seen = len(out.Threads)
	slices.SortStableFunc(out.Threads, func(a, b Thread) int { return int(b.Ticks - a.Ticks) })
	return out
}

func ownProcess(status string) string {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "Tgid:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// parseStat reads a thread's stat: the name in brackets may hold anything, brackets too.
//
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func parseStat(s string) (Thread, bool) {
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return Thread{}, false
	}
	f := strings.Fields(s[end+1:]) // f[0] is field 3 of the page
	number := func(field int) int64 {
		if field-3 >= len(f) {
			return 0
		}
		n, _ := strconv.ParseInt(f[field-3], 10, 64) // flags and times fit; anything else is 0
		return n
	}
	tid, err := strconv.Atoi(strings.TrimSpace(s[:open]))
	if err != nil || len(f) < 41-2 {
		return Thread{}, false
	}
	flags := number(9)
	return Thread{TID: tid, Name: s[open+1 : end], CPU: int(number(39)), Kernel: flags&flagKernelThread != 0,
		Bound: flags&flagNoAffinity != 0, Policy: int(number(41)), Priority: int(number(40)), Ticks: number(14) + number(15)}, true
}

// running are the processes with one of the names.
func (f *Facts) running(names ...string) []string {
	var out []string
	for _, x := range f.Threads.Threads {
		if x.PID == x.TID && slices.Contains(names, x.Name) && !slices.Contains(out, x.Name) {
			out = append(out, x.Name)
		}
	}
	return out
}

// Interrupt is a device's interrupt that was delivered since boot.
type Interrupt struct {
	Number string
	Name   string // chip and action: "IR-PCI-MSI 524288-edge nvme0q1"
	Counts map[int]int64
	CPUs   []int // that it is delivered to now; nil: not readable
}

func (t *tree) deviceInterrupts() []Interrupt {
	irqs, err := parseTable(t.maybe("proc/interrupts"))
	if err != nil {
		return nil
	}
	var out []Interrupt
	for _, r := range irqs.rows {
		if !r.isDevice() || len(r.counts) == 0 || slices.Max(r.counts) == 0 {
			continue
		}
		x := Interrupt{Number: r.label, Name: lastWord(r.device), Counts: map[int]int64{}, CPUs: t.deliveredTo(r.label)}
		for i, n := range r.counts {
			x.Counts[irqs.cpus[i]] = n
		}
		out = append(out, x)
	}
	return out
}

func lastWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return s
	}
	return f[len(f)-1]
}

// cpuWords is "CPU 1" or "CPUs 0-1".
func cpuWords(cpus []int) string {
	if len(cpus) > 1 {
		return "CPUs " + cpuText(cpus)
	}
	return "CPU " + cpuText(cpus)
}

func cpuText(cpus []int) string {
	if len(cpus) == 0 {
		return "none"
	}
	return bench.CPUList(cpus).String()
}
