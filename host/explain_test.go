package host

import (
	"slices"
	"strings"
	"testing"

	"opcycle/bench"
)

// The decision table: which line explains an error, on machines that differ in one thing.
func TestWhyACallWasRefused(t *testing.T) {
	yes, no := true, false
	unlimited, low := int64(-1), int64(0)
	can := func(f *Facts) { // everything that a process can have
		f.Host.Capabilities = []string{"SYS_NICE", "IPC_LOCK"}
		f.Rights.InitialUserNS, f.Rights.UserID = &yes, "0"
		f.Host.RTGroupSched = &no
		f.Host.Limits = bench.HostLimits{RTPrio: 0, Memlock: 8 << 20}
		f.Rights.RTPrioHard, f.Rights.MemlockHard = &low, &low
	}
	user := func(f *Facts) { f.Host.Capabilities, f.Rights.UserID = nil, "1000" }
	rootless := func(f *Facts) { f.Rights.InitialUserNS, f.Host.Container = &no, "podman" }
	groups := func(version int, runtime *int64) func(*Facts) {
		return func(f *Facts) {
			f.Host.RTGroupSched = &yes
			f.Cgroup = CgroupFacts{Version: version, Path: "/user.slice", RTRuntime: runtime, RTFile: "/sys/fs/cgroup/cpu/user.slice/cpu.rt_runtime_us"}
		}
	}
	in := func(container string) func(*Facts) { return func(f *Facts) { f.Host.Container = container } }
	fifo := bench.Attempt{Call: bench.CallFIFO, Errno: "EPERM", Value: 80}
	lock := bench.Attempt{Call: bench.CallMlockall, Errno: "ENOMEM"}
	cpus := bench.Attempt{Call: bench.CallAffinity, Errno: "EINVAL", CPUs: []int{2, 3}}
	call := func(call, errno string) bench.Attempt { return bench.Attempt{Call: call, Errno: errno} }
	for name, c := range map[string]struct {
		attempt bench.Attempt
		having  []func(*Facts)
		row     string
		says    string // in the cause or the remedy
	}{
		"user, no limit":               {fifo, []func(*Facts){user}, "no privilege", "/etc/security/limits.d"},
		"user, hard limit allows":      {fifo, []func(*Facts){user, func(f *Facts) { f.Rights.RTPrioHard = &unlimited }}, "no privilege", "ulimit -r 80"},
		"user with RT_GROUP_SCHED":     {fifo, []func(*Facts){user, groups(1, &low)}, "no privilege", "RLIMIT_RTPRIO is 0"},
		"rootful container":            {fifo, []func(*Facts){user, in("podman")}, "no privilege", "--cap-add SYS_NICE --ulimit rtprio=99"},
		"rootless container":           {fifo, []func(*Facts){rootless}, "no privilege", "CAP_SYS_NICE of a user namespace does not count"},
		"rootless, no --ulimit":        {fifo, []func(*Facts){rootless}, "no privilege", "LimitRTPRIO=99"},
		"pod":                          {fifo, []func(*Facts){user, in("kubernetes")}, "no privilege", "add: [SYS_NICE]"},
		"limit allows, group does not": {fifo, []func(*Facts){user, func(f *Facts) { f.Host.Limits.RTPrio = 99 }, groups(1, &low)}, "no RT budget, cgroup v1", "is 0"},
		"cgroup v1":                    {fifo, []func(*Facts){groups(1, &low)}, "no RT budget, cgroup v1", "echo 950000 > /sys/fs/cgroup/cpu/user.slice/cpu.rt_runtime_us"},
		"cgroup v1, files not seen":    {fifo, []func(*Facts){groups(1, nil)}, "no RT budget, cgroup v1", "can't be seen here"},
		"cgroup v1, container":         {fifo, []func(*Facts){groups(1, &low), in("docker")}, "no RT budget, cgroup v1", "on the container's host: echo 950000"},
		"cgroup v2, old kernel":        {fifo, []func(*Facts){groups(2, nil), func(f *Facts) { f.Host.Kernel = "6.1.0" }}, "no RT budget, cgroup v2", "a kernel without CONFIG_RT_GROUP_SCHED"},
		"cgroup v2, kernel with a way": {fifo, []func(*Facts){groups(2, nil), func(f *Facts) { f.Host.Kernel = "6.18.4" }}, "no RT budget, cgroup v2", "boot with rt_group_sched=0"},
		"kernel's build not known":     {fifo, []func(*Facts){func(f *Facts) { f.Host.RTGroupSched = nil }}, "perhaps no RT budget", "most likely"},
		"seccomp":                      {fifo, []func(*Facts){func(f *Facts) { f.Rights.Seccomp = "2" }}, "seccomp", "sched_setattr"},
		"nothing explains it":          {fifo, nil, "unknown", "strace"},
		"SELinux":                      {call(bench.CallFIFO, "EACCES"), []func(*Facts){func(f *Facts) { f.Rights.SELinux, f.Rights.Label = "enforcing", "container_t" }}, "SELinux", "container_t"},
		"memlock, user":                {lock, []func(*Facts){user}, "limit of locked memory", "memlock unlimited"},
		"memlock 0, user":              {call(bench.CallMlockall, "EPERM"), []func(*Facts){user, func(f *Facts) { f.Host.Limits.Memlock = 0 }}, "limit of locked memory", "is 0 bytes"},
		"memlock, rootless":            {lock, []func(*Facts){rootless}, "limit of locked memory", "LimitMEMLOCK=infinity"},
		"memlock, container":           {lock, []func(*Facts){user, in("podman")}, "limit of locked memory", "--cap-add IPC_LOCK --ulimit memlock=-1"},
		"memory of the cgroup":         {lock, []func(*Facts){func(f *Facts) { few := int64(33554432); f.Cgroup.MemoryMax = &few }}, "cgroup's memory", "33554432"},
		"too little memory":            {lock, nil, "no memory", "too little"},
		"mlockall by seccomp":          {call(bench.CallMlockall, "EPERM"), nil, "seccomp", "mlockall"},
		"outside the cpuset":           {cpus, []func(*Facts){func(f *Facts) { f.Host.Cpuset = []int{0, 1, 2} }}, "CPU outside the cpuset", "CPU 3 outside of the cpuset 0-2"},
		"outside, container":           {cpus, []func(*Facts){func(f *Facts) { f.Host.Cpuset = []int{0} }, in("podman")}, "CPU outside the cpuset", "--cpuset-cpus with 2-3"},
		"offline":                      {cpus, nil, "CPU offline", "online"},
		"guard":                        {call(bench.CallRTTime, "EPERM"), nil, "hard limit of the guard", "rttime"},
		"no device, container":         {call(bench.CallLatency, "ENOENT"), []func(*Facts){in("podman")}, "device not in the container", "--device /dev/cpu_dma_latency"},
		"no device":                    {call(bench.CallLatency, "ENOENT"), nil, "no device", "no CPU idle"},
		"device, user":                 {call(bench.CallLatency, "EACCES"), []func(*Facts){user}, "device is root's", "udev"},
		"device, user, SELinux":        {call(bench.CallLatency, "EACCES"), []func(*Facts){user, func(f *Facts) { f.Rights.SELinux = "enforcing" }}, "device is root's", "0600"},
		"device, root, SELinux":        {call(bench.CallLatency, "EACCES"), []func(*Facts){func(f *Facts) { f.Rights.SELinux = "enforcing" }}, "SELinux", "ausearch"},
		"device, cgroup":               {call(bench.CallLatency, "EPERM"), nil, "device not allowed", "--device"},
		"tracefs, lockdown":            {call(bench.CallTracefs, "EPERM"), []func(*Facts){func(f *Facts) { f.Lockdown = "integrity" }}, "lockdown", "integrity"},
		"tracefs, user":                {call(bench.CallTracefs, "EPERM"), nil, "tracefs not allowed", "CAP_SYS_ADMIN"},
		"resctrl not mounted":          {call(bench.CallResctrl, "ENOENT"), nil, "not mounted", "mount -t resctrl"},
		"out of classes":               {bench.Attempt{Call: bench.CallResctrl, Errno: "ENOSPC", Said: "mkdir: no space; last_cmd_status: Out of CLOSIDs"}, nil, "no class left", "Out of CLOSIDs"},
		"resctrl read-only":            {call(bench.CallResctrl, "EROFS"), nil, "read-only", ":rw"},
		"no PMU":                       {call(bench.CallPerf, "ENOENT"), nil, "no counters", "virtual machines"},
		"paranoid":                     {call(bench.CallPerf, "EACCES"), []func(*Facts){func(f *Facts) { four := int64(4); f.Rights.PerfParanoid = &four }}, "perf_event_paranoid", "is 4"},
		"shared memory, seccomp":       {call(bench.CallMemfd, "EPERM"), nil, "seccomp", "memfd_create"},
	} {
		t.Run(name, func(t *testing.T) {
			var f Facts
			can(&f)
			for _, h := range c.having {
				h(&f)
			}
			n := quietPlan()
			got := (&checker{f: &f, n: &n}).explain(c.attempt)
			if got.name != c.row || !strings.Contains(got.because+"\n"+got.remedy, c.says) {
				t.Errorf("%+v, want the row %q and %q", got, c.row, c.says)
			}
		})
	}
}

// What a refused call means depends on what the plan requires.
func TestARefusedCallByWhatThePlanRequires(t *testing.T) {
	machine := factsWith(t, nil, nil)
	for name, c := range map[string]struct {
		call    string
		cpus    []int
		require bool
		want    bench.Severity
	}{
		"FIFO, auto":           {bench.CallFIFO, nil, false, bench.SeverityWarning},
		"FIFO, require":        {bench.CallFIFO, nil, true, bench.SeverityUnfit},
		"memory, auto":         {bench.CallMlockall, nil, false, bench.SeverityWarning},
		"memory, require":      {bench.CallMlockall, nil, true, bench.SeverityUnfit},
		"measured CPUs":        {bench.CallAffinity, []int{2, 3}, false, bench.SeverityUnfit},
		"housekeeping CPUs":    {bench.CallAffinity, []int{0, 1}, false, bench.SeverityWarning},
		"shared memory":        {bench.CallMemfd, nil, false, bench.SeverityUnfit},
		"C-states, require":    {bench.CallLatency, nil, true, bench.SeverityWarning},
		"counters":             {bench.CallPerf, nil, true, bench.SeverityNote},
		"tracer":               {bench.CallTracefs, nil, false, bench.SeverityWarning},
		"cache, not required":  {bench.CallResctrl, nil, false, bench.SeverityWarning},
		"CPUs without a guard": {bench.CallRTTime, nil, true, bench.SeverityUnfit},
	} {
		t.Run(name, func(t *testing.T) {
			n := quietPlan()
			if c.require {
				n.RT = bench.RTRequire
			}
			machine.Attempts = append(granted(), bench.Attempt{Call: c.call, What: "the call", CPUs: c.cpus, Errno: "EPERM", Said: "refused"})
			f := find(t, Check(machine, n), "try_"+c.call)
			if f.Severity != c.want || !strings.HasSuffix(f.Seen, "the call: EPERM") || f.Cost == "" {
				t.Errorf("%+v, want %s", f, c.want)
			}
		})
	}
}

// Every row can be reached, and points to a source.
func TestTheDecisionTableHasNoDeadRow(t *testing.T) {
	for i, k := range causes() {
		if k.source == "" || k.name == "" || k.say == nil {
			t.Errorf("row %d: %+v", i, k)
		}
		before := causes()[:i]
		if slices.ContainsFunc(before, func(b cause) bool { return b.call == k.call && b.when == nil && (b.errno == "" || b.errno == k.errno) }) {
			t.Errorf("row %q of %s %s comes after one that takes everything", k.name, k.call, k.errno)
		}
	}
}
