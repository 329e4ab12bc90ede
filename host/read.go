package host

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"opcycle/bench"
)

// Read takes the fingerprint of the machine whose /proc, /sys, /etc, /run and /boot lie
// below root, a folder or the file of a Capture. Affinity, limits and capabilities are
// those of the calling process, or of the one that made the capture. The error is for a
// root without /proc and a file that is no capture: everything smaller is in
// Host.Unreadable.
func Read(root string) (bench.Host, error) {
	files, done, err := open(root)
	if err != nil {
		return bench.Host{}, err
	}
	defer done()
	return read(&tree{files: files}, root)
}

func read(t *tree, root string) (bench.Host, error) {
	proc, err := t.procfs()
	if err != nil {
		return bench.Host{}, fmt.Errorf("read the host below %s: %w; this works on Linux with /proc mounted", root, err)
	}
	h := bench.Host{
		Name:        t.text("proc/sys/kernel/hostname"),
		OS:          t.osName(),
		Kernel:      strings.TrimSpace(t.text("proc/sys/kernel/osrelease") + " " + t.text("proc/sys/kernel/version")),
		ClockSource: t.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
		BootID:      t.text("proc/sys/kernel/random/boot_id"),
		RTRuntimeUS: t.number("proc/sys/kernel/sched_rt_runtime_us"),
		RTPeriodUS:  t.number("proc/sys/kernel/sched_rt_period_us"),
		Arch:        runtime.GOARCH, // of this program, which runs here
		Mitigations: t.mitigations(),
		THP:         bracketed(t.text("sys/kernel/mm/transparent_hugepage/enabled")),
	}
	t.through("proc/cmdline", func() error {
		words, err := proc.CmdLine()
		h.Cmdline = strings.Join(words, " ")
		return err
	})
	t.through("proc/meminfo", func() error {
		m, err := proc.Meminfo()
		if err == nil && m.MemTotalBytes != nil {
			h.Memory = int64(*m.MemTotalBytes)
		}
		return err
	})
	t.processors(&h)
	t.kernel(&h)
	t.self(&h, proc)
	t.fifoLimits(&h)
	h.Hypervisor = t.hypervisor()
	h.Container = t.container()
	h.Unreadable = t.unreadable
	return h, nil
}

// osName is PRETTY_NAME of os-release.
func (t *tree) osName() string {
	s, ok := t.option("etc/os-release")
	if !ok {
		s = t.text("usr/lib/os-release")
	}
	for line := range strings.Lines(s) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

// mitigations are the processor's weaknesses that concern this machine, as the kernel
// words them.
func (t *tree) mitigations() []string {
	const dir = "sys/devices/system/cpu/vulnerabilities"
	if !t.exists(dir) {
		t.miss(dir, fs.ErrNotExist)
	}
	var out []string
	for _, name := range t.entries(dir) {
		if s := t.text(dir + "/" + name); s != "" && s != "Not affected" {
			out = append(out, name+": "+s)
		}
	}
	return out
}

// bracketed is the chosen word of "always [madvise] never".
func bracketed(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, _ = strings.Cut(s, "]")
	return s
}
