package host

import (
	"errors"
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
	var me procfs.Proc
	t.after(func() error { _, err := t.files.link("proc/self"); return err }, "proc/self", func() (err error) {
		me, err = proc.Self()
		return err
	})
	if me.PID == 0 {
		return
	}
	t.through("proc/self/limits", func() error {
		l, err := me.Limits()
		if err == nil {
			h.Limits = bench.HostLimits{RTPrio: limit(l.RealtimePriority), Memlock: limit(l.LockedMemory), Files: limit(l.OpenFiles)}
		}
		return err
	})
	t.after(t.askNamespaces, "proc/self/ns", func() error {
		ns, err := me.Namespaces()
		h.TimeNS = uint64(ns["time"].Inode) // of a kernel without them: 0
		return err
	})
	h.Cpuset = t.cpuset()
	h.CgroupQuota = t.quota()
}

// askNamespaces asks what procfs does.
func (t *tree) askNamespaces() error {
	names, err := t.files.list("proc/self/ns")
	for _, n := range names {
		_, one := t.files.link("proc/self/ns/" + n)
		err = errors.Join(err, one)
	}
	return err
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
