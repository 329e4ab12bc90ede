package host

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// latencyDevice holds the CPUs out of their idle states while it is open.
const latencyDevice = "dev/cpu_dma_latency"

// Try makes the calls that a plan needs, for real, and undoes each at once. It belongs in
// a process of its own (the verb that is started for it): what it changes on the way, the
// affinity and a real-time policy of one thread for some µs each, ends with that process,
// and a limit that it lowers can't be raised again. root is "/" outside tests.
//
// Nothing here decides what an error means: Check does, from what is returned.
func Try(n bench.Need, root string) []bench.Attempt {
	runtime.LockOSThread() // never unlocked: the thread ends with the process
	t := trier{need: n, root: root}
	t.affinity()
	t.scheduling()
	t.one(bench.Attempt{Call: bench.CallMemfd, What: "memfd_create(MFD_ALLOW_SEALING) of 4096 bytes, sealed and mapped", Value: 4096}, func() error {
		s, err := rt.NewShared("opcycle-check", 4096)
		if err != nil {
			return err
		}
		return s.Close()
	})
	if n.Lock {
		t.one(bench.Attempt{Call: bench.CallMlockall, What: "mlockall(MCL_CURRENT|MCL_FUTURE)"}, rt.TryLockMemory)
	}
	t.one(bench.Attempt{Call: bench.CallLatency, What: "open(/" + latencyDevice + ") and write 0 µs"}, func() error {
		c, err := rt.HoldCPULatency(filepath.Join(root, latencyDevice), 0)
		if err != nil {
			return err
		}
		return c.Close()
	})
	t.asked()
	t.smi()
	return t.out
}

type trier struct {
	need bench.Need
	root string
	out  []bench.Attempt
}

// one tries and notes a call.
func (t *trier) one(a bench.Attempt, call func() error) bool {
	err := call()
	if a.Errno = rt.ErrnoName(err); err != nil {
		a.Said = err.Error()
	}
	t.out = append(t.out, a)
	return err == nil
}

// affinity sets it to every CPU of the plan, the measured ones first.
func (t *trier) affinity() {
	for _, l := range []struct {
		name string
		cpus []int
	}{{"measured", t.need.Measured}, {"housekeeping", t.need.Housekeeping}} {
		if len(l.cpus) == 0 {
			continue
		}
		t.one(bench.Attempt{Call: bench.CallAffinity, What: fmt.Sprintf("sched_setaffinity to the %s CPUs %s", l.name, bench.CPUList(l.cpus)), CPUs: l.cpus},
			func() error { return rt.SetAffinity(0, l.cpus) })
	}
}

// scheduling tries the guard, then each priority on its CPUs, and goes back at once.
func (t *trier) scheduling() {
	var guard time.Duration
	for _, x := range t.need.Threads {
		if x.FIFO > 0 && x.RTTime > guard {
			guard = x.RTTime
		}
	}
	if guard > 0 {
		t.one(bench.Attempt{Call: bench.CallRTTime, What: fmt.Sprintf("setrlimit(RLIMIT_RTTIME, %s)", guard), Value: guard.Microseconds()},
			func() error { return rt.LimitRealTime(guard) })
	}
	for _, x := range t.need.Threads {
		if x.FIFO == 0 {
			continue
		}
		t.one(bench.Attempt{Call: bench.CallFIFO, What: fmt.Sprintf("sched_setattr(SCHED_FIFO %d) for the %s threads", x.FIFO, x.Name),
			CPUs: x.CPUs, Value: int64(x.FIFO)}, func() error {
			err := rt.SetThread(0, rt.Attr{Policy: rt.FIFO, Priority: x.FIFO})
			if err == nil {
				err = rt.SetThread(0, rt.Attr{Policy: rt.Other})
			}
			return err
		})
	}
}

// asked tries what only some plans ask for.
func (t *trier) asked() {
	if t.need.Trace {
		t.one(bench.Attempt{Call: bench.CallTracefs, What: "make an instance of the tracer"}, func() error {
			fs, _, err := rt.OpenTracefs(t.root, nil)
			if err != nil {
				return err
			}
			return fs.Close()
		})
	}
	if t.need.CAT != "" && t.need.CAT != "off" {
		t.one(bench.Attempt{Call: bench.CallResctrl, What: "make a class of cache ways"}, func() error {
			fs, group := rt.NewResctrl(t.root), "opcycle-check-"+strconv.Itoa(os.Getpid())
			if err := fs.Make(group); err != nil {
				return err
			}
			return fs.Remove(group)
		})
	}
	if t.need.Perf {
		t.one(bench.Attempt{Call: bench.CallPerf, What: "perf_event_open of core and reference cycles"}, func() error {
			_, err := rt.CoreRatio(time.Millisecond)
			return err
		})
	}
}

// smiCount is MSR_SMI_COUNT (Intel SDM volume 4): the number of SMIs since reset.
const smiCount = 0x34

// smi reads the count of a measured CPU where the device of its registers is there.
func (t *trier) smi() {
	if len(t.need.Measured) == 0 {
		return
	}
	cpu := slices.Min(t.need.Measured)
	path := filepath.Join(t.root, "dev/cpu", strconv.Itoa(cpu), "msr")
	if _, err := os.Stat(path); err != nil {
		return // said by Check, which looks for the device too
	}
	var count int64
	ok := t.one(bench.Attempt{Call: bench.CallSMI, What: fmt.Sprintf("read register 0x%x of /dev/cpu/%d/msr", smiCount, cpu), CPUs: []int{cpu}}, func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var b [8]byte
		_, err = f.ReadAt(b[:], smiCount)
		count = int64(binary.LittleEndian.Uint64(b[:]))
		return err
	})
	if ok {
		t.out[len(t.out)-1].Value = count
	}
}
