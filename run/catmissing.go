package run

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"opcycle/bench"
	"opcycle/rt"
)

// catMissing says in words what a machine lacks for cache allocation where resctrl is not
// mounted, the processor before the kernel before the mount. What is mounted works, whatever
// the flags say: Haswell servers allocate without one.
func catMissing(job *bench.Job, fs rt.Resctrl) string {
	var out []string
	flags := strings.Fields(proc(job, "cpuinfo", `(?m)^flags\s*:(.*)$`))
	has := func(f string) bool { return slices.Contains(flags, f) }
	if len(flags) > 0 && !has("cat_l3") && !has("cat_l2") {
		why := "CPUID: the processor has no flag cat_l3 or cat_l2"
		if job.Host.Hypervisor != "" {
			why += " (a hypervisor, " + job.Host.Hypervisor + ", may hide it: measure on the machine itself)"
		}
		out = append(out, why)
	}
	if proc(job, "filesystems", `(?m)^nodev\s+(resctrl)$`) == "" {
		why := "kernel: no file system resctrl"
		if off := proc(job, "cmdline", `(\brdt=\S*!\S*)`); off != "" {
			why += "; the boot option " + off + " turns it off"
		} else {
			why += "; it needs CONFIG_X86_CPU_RESCTRL (on arm64 MPAM and CONFIG_ARM64_MPAM), and a processor that allocates"
		}
		return strings.Join(append(out, why), "; ")
	}
	why := "mount: nothing at " + fs.Dir() + "; mount -t resctrl resctrl /sys/fs/resctrl"
	if job.Host.Container != "" {
		why += " on the host, and podman run -v /sys/fs/resctrl:/sys/fs/resctrl"
	}
	return strings.Join(append(out, why), "; ")
}

// proc is what a pattern's group finds in a file of proc; empty: nothing, or no file.
func proc(job *bench.Job, name, pattern string) string {
	data, err := os.ReadFile(filepath.Join(job.Root, "proc", name))
	if err != nil {
		return ""
	}
	if m := regexp.MustCompile(pattern).FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}
