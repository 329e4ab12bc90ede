package host

import (
	"slices"
	"strings"
)

// RightsFacts are what this process may ask of the kernel, and who else says no.
type RightsFacts struct {
	InitialUserNS *bool  // its user ids are the machine's own; nil: not known
	UserID        string // effective
	Seccomp       string // of /proc/self/status: "0" off, "2" a filter
	NoNewPrivs    string
	RTPrioHard    *int64 // −1: unlimited; nil: not known
	MemlockHard   *int64
	RTTimeHard    *int64
	SELinux       string // enforcing, permissive; empty: not there
	Label         string // of this process, for the security module
	FIPS          *int64 // 1: on
	PerfParanoid  *int64
}

func (t *tree) rights() RightsFacts {
	r := RightsFacts{
		FIPS:         whole(t.maybe("proc/sys/crypto/fips_enabled")),
		PerfParanoid: whole(t.maybe("proc/sys/kernel/perf_event_paranoid")),
	}
	if s, ok := t.option("proc/self/uid_map"); ok {
		first := slices.Equal(strings.Fields(s), []string{"0", "0", "4294967295"})
		r.InitialUserNS = &first
	}
	for line := range strings.Lines(t.maybe("proc/self/status")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		f := strings.Fields(value)
		switch {
		case len(f) == 0:
		case key == "Uid" && len(f) > 1:
			r.UserID = f[1]
		case key == "Seccomp":
			r.Seccomp = f[0]
		case key == "NoNewPrivs":
			r.NoNewPrivs = f[0]
		}
	}
	limits := t.maybe("proc/self/limits")
	r.RTPrioHard = hardLimit(limits, "Max realtime priority")
	r.MemlockHard = hardLimit(limits, "Max locked memory")
	r.RTTimeHard = hardLimit(limits, "Max realtime timeout")
	switch t.maybe("sys/fs/selinux/enforce") {
	case "1":
		r.SELinux = "enforcing"
	case "0":
		r.SELinux = "permissive"
	}
	if r.SELinux != "" || t.exists("sys/kernel/security/apparmor") { // without a module the file answers EINVAL
		r.Label = strings.Trim(t.maybe("proc/self/attr/current"), "\x00")
	}
	return r
}

// hardLimit is the second number of a line of /proc/self/limits; procfs keeps the first.
func hardLimit(limits, name string) *int64 {
	for line := range strings.Lines(limits) {
		rest, ok := strings.CutPrefix(line, name)
		f := strings.Fields(rest)
		if !ok || len(f) < 2 {
			continue
		}
		if f[1] == "unlimited" {
			n := int64(-1)
			return &n
		}
		return whole(f[1])
	}
	return nil
}
