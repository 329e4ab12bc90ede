package host

import (
	"math"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"opcycle/bench"
)

// self fills what concerns the calling process: affinity, limits, capabilities, time
// namespace, cgroup.
func (t *tree) self(h *bench.Host, proc procfs.FS) {
	t.status(h, t.text("proc/self/status"))
	me, err := proc.Self()
	if err != nil {
		t.miss("proc/self", err)
		return
	}
	if l, err := me.Limits(); err != nil {
		t.miss("proc/self/limits", err)
	} else {
		h.Limits = bench.HostLimits{
			RTPrio:  limit(l.RealtimePriority),
			Memlock: limit(l.LockedMemory),
			Files:   limit(l.OpenFiles),
		}
	}
	if ns, err := me.Namespaces(); err != nil {
		t.miss("proc/self/ns", err)
	} else if n, ok := ns["time"]; ok {
		h.TimeNS = uint64(n.Inode)
	}
	h.Cpuset = t.cpuset()
	h.CgroupQuota = t.quota()
}

// limit turns procfs' "unlimited" into ours.
func limit(n uint64) int64 {
	if n > math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// status reads affinity and capabilities.
func (t *tree) status(h *bench.Host, s string) {
	for line := range strings.Lines(s) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); key {
		case "Cpus_allowed_list":
			h.Allowed = t.list("proc/self/status", value)
		case "CapEff":
			bits, err := strconv.ParseUint(value, 16, 64)
			if err != nil {
				t.miss("proc/self/status", err)
			}
			h.Capabilities = capabilities(bits)
		}
	}
}

// capabilities names those that a run can use, by the bit numbers of linux/capability.h.
func capabilities(bits uint64) []string {
	var out []string
	for _, c := range []struct {
		bit  int
		name string
	}{{23, "SYS_NICE"}, {14, "IPC_LOCK"}, {21, "SYS_ADMIN"}} {
		if bits>>c.bit&1 == 1 {
			out = append(out, c.name)
		}
	}
	return out
}
