package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"opcycle/bench"
)

// AttemptsFile is where a captured root carries what was tried on its machine: a JSON
// array of bench.Attempt. The live root has none; Try makes it.
const AttemptsFile = "opcycle/attempts.json"

// Facts are what the findings are made of: the fingerprint, what else was read below the
// root, and what was tried. Fields that could not be read are empty or nil.
type Facts struct {
	Host     bench.Host
	Attempts []bench.Attempt // nil: nothing was tried

	Flags     []string // of the first processor, x86 only
	Clocks    []string // available clock sources
	Lockdown  string   // of the kernel: none, integrity, confidentiality
	Cgroup    CgroupFacts
	Power     PowerFacts
	Memory    MemoryFacts
	Rights    RightsFacts
	Interrupt []Interrupt // devices' that were delivered since boot
	Threads   ThreadFacts
	Tuned     string      // active profile of tuned; empty: none seen
	TunedVars string      // isolated_cores of the profile's variables
	PTP       []string    // hardware clocks, "ptp0 (i225)"
	Resctrl   bool        // the file system is mounted
	Slack     *int64      // timer slack of this process, ns
	Steal     []StealFact // by CPU, since boot; nil: not known
}

// StealFact is how much of one CPU's time the hypervisor gave to others since boot.
type StealFact struct {
	CPU   int
	Share float64 // 0..1
}

// ReadFacts reads the machine below root, a folder or the file of a Capture, and what was
// tried on it where root carries that.
func ReadFacts(root string) (Facts, error) {
	files, done, err := open(root)
	if err != nil {
		return Facts{}, err
	}
	defer done()
	f, err := readFacts(files, root)
	if err == nil {
		f.Attempts, err = attemptsIn(files, root)
	}
	return f, err
}

func readFacts(files source, root string) (Facts, error) {
	t := &tree{files: files}
	h, err := read(t, root)
	if err != nil {
		return Facts{}, err
	}
	f := factsOf(t, h)
	f.Host.Unreadable = once(t.unreadable)
	return f, nil
}

// once leaves out what was said before.
func once(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// attemptsIn are what was tried on the machine that root is of; nil where root does not
// carry them. The live root never does, even where the program itself is called /opcycle.
func attemptsIn(files source, root string) ([]bench.Attempt, error) {
	if live(root) {
		return nil, nil
	}
	text, err := files.read(AttemptsFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotCaptured) {
		return nil, nil
	}
	var out []bench.Attempt
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w; capture the machine again", AttemptsFile, root, bare(err))
	}
	return out, nil
}

func factsOf(t *tree, h bench.Host) Facts {
	f := Facts{
		Host:      h,
		Flags:     t.flags(),
		Lockdown:  bracketed(t.maybe("sys/kernel/security/lockdown")),
		Cgroup:    t.cgroupFacts(),
		Power:     t.power(h.CPUs),
		Memory:    t.memory(),
		Rights:    t.rights(),
		Interrupt: t.deviceInterrupts(),
		Threads:   t.threadFacts(),
		Tuned:     t.maybe("etc/tuned/active_profile"),
		TunedVars: t.isolatedCores(),
		PTP:       t.clocksOfCards(),
		Resctrl:   t.exists("sys/fs/resctrl/info"),
		Slack:     whole(t.maybe("proc/self/timerslack_ns")),
		Steal:     t.steal(),
	}
	f.Clocks = strings.Fields(t.maybe("sys/devices/system/clocksource/clocksource0/available_clocksource"))
	return f
}

// maybe is option without the difference between absent and empty.
func (t *tree) maybe(name string) string {
	s, _ := t.option(name)
	return s
}

// flags are the first processor's.
func (t *tree) flags() []string {
	for line := range strings.Lines(t.maybe("proc/cpuinfo")) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "flags" {
			return strings.Fields(v)
		}
	}
	return nil
}

// isolatedCores is what tuned's real-time profiles were told to isolate.
func (t *tree) isolatedCores() string {
	for _, name := range []string{"realtime", "cpu-partitioning"} {
		for line := range strings.Lines(t.maybe("etc/tuned/" + name + "-variables.conf")) {
			if k, v, ok := strings.Cut(line, "="); ok && strings.TrimSpace(k) == "isolated_cores" {
				return strings.TrimSpace(v)
			}
		}
	}
	return ""
}

// clocksOfCards are the PTP hardware clocks.
func (t *tree) clocksOfCards() []string {
	var out []string
	for _, e := range t.entries("sys/class/ptp") {
		name := t.maybe("sys/class/ptp/" + e + "/clock_name")
		out = append(out, strings.TrimSpace(e+" ("+name+")"))
	}
	return out
}

// steal is the eighth number of each CPU's line of /proc/stat over all of them but the
// guests', which user and nice hold already (proc_stat(5)).
func (t *tree) steal() []StealFact {
	var out []StealFact
	for line := range strings.Lines(t.maybe("proc/stat")) {
		f := strings.Fields(line)
		if len(f) < 9 || !strings.HasPrefix(f[0], "cpu") || f[0] == "cpu" {
			continue
		}
		id := whole(f[0][len("cpu"):])
		var all int64
		for _, s := range f[1:9] {
			if n := whole(s); n != nil {
				all += *n
			}
		}
		if steal := whole(f[8]); id != nil && steal != nil && all > 0 {
			out = append(out, StealFact{CPU: int(*id), Share: float64(*steal) / float64(all)})
		}
	}
	return out
}

// hasFlag is whether the processor says so.
func (f *Facts) hasFlag(name string) bool { return slices.Contains(f.Flags, name) }

// arm is true for an arm64 machine, whichever this program runs on.
func (f *Facts) arm() bool {
	return strings.HasPrefix(f.Host.CPUModel, "arm implementer") || f.Host.ClockSource == "arch_sys_counter"
}
