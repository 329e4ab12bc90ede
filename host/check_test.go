package host

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// On a machine where nothing is amiss nothing is found; every key is there once, and in
// every finding it is said what was seen.
func TestATunedMachineIsFit(t *testing.T) {
	findings := Check(factsWith(t, nil, granted()), quietPlan())
	seen := map[string]bool{}
	for _, f := range findings {
		if f.Severity != bench.SeverityFit {
			t.Errorf("%+v", f)
		}
		if seen[f.Key] || f.Title == "" || f.Seen == "" || f.Source == "" {
			t.Errorf("twice, or incomplete: %+v", f)
		}
		seen[f.Key] = true
	}
	if got, _ := bench.FitnessOf(findings); got != bench.FitnessFit {
		t.Error(got)
	}
}

// Every subject, by what is amiss: severity, and what is said.
func TestFindings(t *testing.T) {
	cpu := "sys/devices/system/cpu/cpu2/"
	for name, c := range map[string]struct {
		files    map[string]string
		need     func(*bench.Need)
		key      string
		severity bench.Severity
		says     string // in title, seen, cost or remedy
	}{
		"no PREEMPT_RT":                  {map[string]string{"proc/sys/kernel/version": "#1 SMP PREEMPT"}, nil, "preempt_rt", bench.SeverityWarning, "dnf install kernel-rt"},
		"no PREEMPT_RT, rt off":          {map[string]string{"proc/sys/kernel/version": "#1 SMP PREEMPT"}, noRealTime, "preempt_rt", bench.SeverityNote, "without PREEMPT_RT"},
		"not isolated":                   {map[string]string{"sys/devices/system/cpu/isolated": "3"}, nil, "isolcpus", bench.SeverityWarning, "boot with isolcpus=managed_irq,domain,2-3"},
		"nowhere to isolate to":          {map[string]string{"sys/devices/system/cpu/isolated": ""}, func(n *bench.Need) { n.Housekeeping = []int{2, 3} }, "isolcpus", bench.SeverityWarning, "a further CPU"},
		"isolated partition":             {map[string]string{"sys/devices/system/cpu/isolated": "", "sys/fs/cgroup/system.slice/opcycle.service/cpuset.cpus.partition": "isolated"}, nil, "isolcpus", bench.SeverityFit, "partition"},
		"the tick":                       {map[string]string{"sys/devices/system/cpu/nohz_full": "3"}, nil, "nohz_full", bench.SeverityNote, "nohz_full=2-3"},
		"the tick, never asleep":         {map[string]string{"sys/devices/system/cpu/nohz_full": "(null)"}, func(n *bench.Need) { n.Always = true }, "nohz_full", bench.SeverityWarning, "none"},
		"the tick of CPU 0":              {nil, func(n *bench.Need) { n.Measured, n.Housekeeping = []int{0}, []int{1} }, "nohz_full", bench.SeverityNote, "than 0, which keeps the time"},
		"callbacks":                      {map[string]string{"proc/cmdline": "isolcpus=2-3"}, nil, "rcu_nocbs", bench.SeverityWarning, "boot with rcu_nocbs=2-3"},
		"callbacks by nohz_full":         {map[string]string{"proc/cmdline": "nohz_full=2-3"}, nil, "rcu_nocbs", bench.SeverityFit, "nohz_full=2-3"},
		"callbacks, all":                 {map[string]string{"proc/cmdline": "rcu_nocbs=all"}, nil, "rcu_nocbs", bench.SeverityFit, "rcu_nocbs=all"},
		"irqaffinity":                    {map[string]string{"proc/cmdline": ""}, nil, "irqaffinity", bench.SeverityNote, "irqaffinity=0-1"},
		"irqaffinity, wrong":             {map[string]string{"proc/cmdline": "irqaffinity=0-2"}, nil, "irqaffinity", bench.SeverityNote, "irqaffinity=0-2"},
		"an interrupt":                   {map[string]string{"proc/irq/24/effective_affinity_list": "3", "proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 24: 0 0 0 7 PCI-MSI eth0-rx-1"}, nil, "interrupts", bench.SeverityWarning, "24 (eth0-rx-1): 7 on CPU 3"},
		"an interrupt went away":         {map[string]string{"proc/irq/24/effective_affinity_list": "0", "proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 24: 0 0 0 7 PCI-MSI eth0-rx-1"}, nil, "interrupts", bench.SeverityFit, "no device interrupts"},
		"irqbalance":                     {map[string]string{"proc/9/task/9/stat": stat(9, "irqbalance", 0, 0), "sys/devices/system/cpu/isolated": "", "sys/devices/system/cpu/nohz_full": ""}, nil, "irqbalance", bench.SeverityWarning, "systemctl disable --now irqbalance"},
		"irqbalance, isolated":           {map[string]string{"proc/9/task/9/stat": stat(9, "irqbalance", 0, 0)}, nil, "irqbalance", bench.SeverityNote, "leaves isolated CPUs alone"},
		"irqbalance, container":          {map[string]string{"run/.containerenv": "x", "proc/2/task/2/stat": ""}, nil, "irqbalance", bench.SeverityNote, "not every process"},
		"conmon":                         {map[string]string{"proc/9/task/9/stat": stat(9, "conmon (x", 0, 2)}, nil, "foreign_threads", bench.SeverityWarning, "conmon (x (9) on CPU 2"},
		"a bound kernel thread":          {map[string]string{"proc/9/task/9/stat": stat(9, "ksoftirqd/2", flagKernelThread|flagNoAffinity, 2)}, nil, "foreign_threads", bench.SeverityFit, "none of them"},
		"a kernel thread":                {map[string]string{"proc/9/task/9/stat": stat(9, "kworker/u8:0", flagKernelThread, 2)}, nil, "foreign_threads", bench.SeverityFit, "1 of the kernel's"},
		"governor":                       {map[string]string{cpu + "cpufreq/scaling_governor": "powersave"}, nil, "governor", bench.SeverityWarning, "between 0.8 and 3.2 GHz, so up to 4 times"},
		"schedutil":                      {map[string]string{cpu + "cpufreq/scaling_governor": "schedutil"}, nil, "governor", bench.SeverityNote, "schedutil"},
		"no governor":                    {map[string]string{cpu + "cpufreq/scaling_governor": "", "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": ""}, nil, "governor", bench.SeverityNote, "n/a"},
		"turbo":                          {map[string]string{"sys/devices/system/cpu/intel_pstate/no_turbo": "0"}, nil, "turbo", bench.SeverityNote, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"},
		"boost":                          {map[string]string{"sys/devices/system/cpu/intel_pstate/no_turbo": "", "sys/devices/system/cpu/cpufreq/boost": "1"}, nil, "turbo", bench.SeverityNote, "echo 0 > /sys/devices/system/cpu/cpufreq/boost"},
		"siblings":                       {map[string]string{cpu + "topology/thread_siblings_list": "0,2"}, nil, "smt", bench.SeverityWarning, "2 with 0"},
		"sibling offline":                {map[string]string{cpu + "topology/thread_siblings_list": "2,6"}, nil, "smt", bench.SeverityFit, "no other online CPU"},
		"hpet":                           {map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, nil, "clock_source", bench.SeverityWarning, "echo tsc >"},
		"hpet, TSC given up":             {map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet", "sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet"}, nil, "clock_source", bench.SeverityWarning, "dmesg"},
		"jiffies":                        {map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": "jiffies"}, nil, "clock_source", bench.SeverityUnfit, "no figure"},
		"clock unknown":                  {map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": ""}, nil, "clock_source", bench.SeverityUnknown, "n/a"},
		"TSC stops":                      {map[string]string{"proc/cpuinfo": "flags\t: tsc constant_tsc"}, nil, "tsc", bench.SeverityWarning, "nonstop_tsc false"},
		"arm64":                          {map[string]string{"proc/cpuinfo": "CPU implementer\t: 0x41\nCPU part\t: 0xd08", "sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter"}, nil, "tsc", bench.SeverityFit, "CNTVCT"},
		"time namespace":                 {map[string]string{"proc/77/ns/time ->": "time:[4026532999]"}, nil, "time_namespace", bench.SeverityNote, "4026532999"},
		"no PTP":                         {nil, func(n *bench.Need) { n.Remote = true }, "ptp", bench.SeverityNote, "none seen"},
		"PTP":                            {map[string]string{"proc/9/task/9/stat": stat(9, "ptp4l", 0, 0), "proc/8/task/8/stat": stat(8, "phc2sys", 0, 0), "sys/class/ptp/ptp0/clock_name": "i225"}, func(n *bench.Need) { n.Remote = true }, "ptp", bench.SeverityFit, "ptp0 (i225)"},
		"throttling, rare":               {map[string]string{"proc/sys/kernel/osrelease": "6.1.0", "boot/config-6.1.0": "x", "proc/sys/kernel/sched_rt_runtime_us": "950000"}, nil, "rt_throttling", bench.SeverityNote, "does not come there"},
		"throttling, by design":          {map[string]string{"proc/sys/kernel/osrelease": "6.1.0", "boot/config-6.1.0": "x", "proc/sys/kernel/sched_rt_runtime_us": "500000"}, func(n *bench.Need) { n.Busy = 6 * time.Millisecond }, "rt_throttling", bench.SeverityWarning, "more than that"},
		"throttling, never asleep":       {map[string]string{"proc/sys/kernel/osrelease": "6.1.0", "boot/config-6.1.0": "x", "proc/sys/kernel/sched_rt_runtime_us": "950000"}, func(n *bench.Need) { n.Always = true }, "rt_throttling", bench.SeverityWarning, "in every period"},
		"fair server":                    {map[string]string{"sys/kernel/debug/sched/fair_server/cpu2/runtime": "50000000"}, nil, "fair_server", bench.SeverityNote, "fair_server/cpu2/runtime"},
		"fair server not seen":           {map[string]string{"sys/kernel/debug/sched/fair_server/cpu2/runtime": "", "sys/kernel/debug/sched/fair_server/cpu3/runtime": "", "sys/kernel/debug/sched/fair_server/cpu0/runtime": ""}, nil, "fair_server", bench.SeverityNote, "debugfs"},
		"no throttling, server not seen": {map[string]string{"sys/kernel/debug/sched/fair_server/cpu2/runtime": "", "sys/kernel/debug/sched/fair_server/cpu3/runtime": "", "sys/kernel/debug/sched/fair_server/cpu2/period": "", "sys/kernel/debug/sched/fair_server/cpu3/period": ""}, nil, "rt_throttling", bench.SeverityFit, "not active: kernel.sched_rt_runtime_us unlimited"},
		"release not understood":         {map[string]string{"proc/sys/kernel/osrelease": "next"}, nil, "rt_throttling", bench.SeverityNote, "n/a"},
		"threads hidden":                 {map[string]string{"proc/2/task/2/stat": ""}, nil, "foreign_threads", bench.SeverityNote, "hidepid"},
		"placement":                      {nil, func(n *bench.Need) { n.Notes = []string{"server and client share CPU 1"} }, "placement", bench.SeverityNote, "share CPU 1"},
		"groups, no configuration":       {map[string]string{"boot/config-6.12.9-rt": ""}, nil, "rt_group_sched", bench.SeverityNote, "n/a"},
		"groups, granted":                {map[string]string{"boot/config-6.12.9-rt": "CONFIG_RT_GROUP_SCHED=y"}, nil, "rt_group_sched", bench.SeverityNote, "granted here"},
		"quota":                          {map[string]string{"sys/fs/cgroup/system.slice/opcycle.service/cpu.max": "50000 100000"}, nil, "cpu_quota", bench.SeverityWarning, "up to 50ms"},
		"quota of 2 CPUs":                {map[string]string{"sys/fs/cgroup/system.slice/opcycle.service/cpu.max": "200000 100000"}, nil, "cpu_quota", bench.SeverityWarning, "makes the run invalid"},
		"no cpuset, container":           {map[string]string{"run/.containerenv": "x", "sys/devices/system/cpu/isolated": ""}, nil, "cpu_pinning", bench.SeverityWarning, "--cpuset-cpus=2-3"},
		"no cpuset, rootless":            {map[string]string{"run/.containerenv": "x", "sys/devices/system/cpu/isolated": "", "proc/77/uid_map": "0 1000 1"}, nil, "cpu_pinning", bench.SeverityWarning, "Delegate=cpu cpuset io memory pids and LimitRTPRIO=99"},
		"no CPUs, pod":                   {map[string]string{"run/secrets/kubernetes.io/x": "x", "sys/devices/system/cpu/isolated": ""}, nil, "cpu_pinning", bench.SeverityWarning, "cpuManagerPolicy: static"},
		"CPUs of its own, pod":           {map[string]string{"run/secrets/kubernetes.io/x": "x", "sys/devices/system/cpu/isolated": "", "sys/fs/cgroup/system.slice/opcycle.service/cpuset.cpus.effective": "2-3"}, nil, "cpu_pinning", bench.SeverityFit, "CPUs of its own"},
		"bare, shared":                   {map[string]string{"sys/devices/system/cpu/isolated": ""}, nil, "cpu_pinning", bench.SeverityNote, "system.slice AllowedCPUs=0-1"},
		"user namespace":                 {map[string]string{"proc/77/uid_map": "0 1000 1"}, nil, "capabilities", bench.SeverityNote, "count for it alone"},
		"no capability":                  {map[string]string{"proc/77/status": "Tgid:\t1\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0\nCpus_allowed_list:\t0-1"}, nil, "capabilities", bench.SeverityNote, "none; user 1000"},
		"SELinux":                        {map[string]string{"sys/fs/selinux/enforce": "1", "proc/77/attr/current": "system_u:system_r:container_t:s0:c1,c2", "run/.containerenv": "x"}, nil, "selinux", bench.SeverityNote, ":Z"},
		"FIPS":                           {map[string]string{"proc/sys/crypto/fips_enabled": "1"}, nil, "fips", bench.SeverityNote, "Basic128Rsa15 and Basic256"},
		"huge pages":                     {map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"}, nil, "thp", bench.SeverityWarning, "echo madvise"},
		"swap, locked":                   {map[string]string{"proc/swaps": "Filename Type\n/dev/dm-1 partition"}, nil, "swap", bench.SeverityNote, "/dev/dm-1"},
		"little memory":                  {map[string]string{"sys/fs/cgroup/system.slice/opcycle.service/memory.max": "max", "sys/fs/cgroup/system.slice/memory.max": "268435456"}, nil, "memory_limit", bench.SeverityWarning, "268435456"},
		"memory enough":                  {map[string]string{"sys/fs/cgroup/system.slice/opcycle.service/memory.max": "1073741824"}, nil, "memory_limit", bench.SeverityFit, "large enough"},
		"two nodes":                      {map[string]string{cpu + "node1/x": "", cpu + "node1/cpulist": "2", "proc/sys/kernel/numa_balancing": "0"}, nil, "numa", bench.SeverityWarning, "choose CPUs of one node"},
		"balancing":                      {map[string]string{"sys/devices/system/cpu/cpu0/node1/cpulist": "0", "proc/sys/kernel/numa_balancing": "1"}, nil, "numa", bench.SeverityWarning, "kernel.numa_balancing=0"},
		"virtual":                        {map[string]string{"sys/class/dmi/id/sys_vendor": "QEMU", "proc/stat": "cpu  1 0 0 9 0 0 0 10 0 0\ncpu2 5 0 0 4 0 0 0 1 0 0"}, nil, "virtual", bench.SeverityWarning, "CPU 2 10 %"},
		"no CAT, required":               {map[string]string{"sys/fs/resctrl/info/last_cmd_status": ""}, func(n *bench.Need) { n.CAT = "require" }, "resctrl", bench.SeverityUnfit, "mount -t resctrl"},
		"no CAT, auto":                   {map[string]string{"sys/fs/resctrl/info/last_cmd_status": "", "proc/cpuinfo": "flags\t: tsc"}, func(n *bench.Need) { n.CAT = "auto" }, "resctrl", bench.SeverityWarning, "neither"},
		"no CAT, not asked":              {map[string]string{"sys/fs/resctrl/info/last_cmd_status": ""}, nil, "resctrl", bench.SeverityNote, "asks for none"},
		"tuned for throughput":           {map[string]string{"etc/tuned/active_profile": "throughput-performance"}, nil, "tuned", bench.SeverityWarning, "tuned-adm profile realtime"},
		"tuned, other cores":             {map[string]string{"etc/tuned/realtime-variables.conf": "isolated_cores = 1,3"}, nil, "tuned", bench.SeverityWarning, "not among the cores"},
		"no tuned":                       {map[string]string{"etc/tuned/active_profile": ""}, nil, "tuned", bench.SeverityNote, "no tuned"},
	} {
		t.Run(name, func(t *testing.T) {
			n := quietPlan()
			if c.need != nil {
				c.need(&n)
			}
			f := find(t, Check(factsWith(t, c.files, granted()), n), c.key)
			if all := strings.Join([]string{f.Title, f.Seen, f.Cost, f.Remedy}, "\n"); f.Severity != c.severity || !strings.Contains(all, c.says) {
				t.Errorf("%s, want %s; %q is not in:\n%s", f.Severity, c.severity, c.says, all)
			}
			costs := f.Severity.AtLeastWarning() && f.Severity != bench.SeverityUnknown
			if costs && f.Cost == "" {
				t.Errorf("no cost: %+v", f)
			}
		})
	}
}

func noRealTime(n *bench.Need) {
	n.RT = bench.RTOff
	for i := range n.Threads {
		n.Threads[i].FIFO = 0
	}
}

// What a run holds by itself is a finding only where it could not.
func TestIdleStatesByWhatWasTried(t *testing.T) {
	refused := granted()
	i := slices.IndexFunc(refused, func(a bench.Attempt) bool { return a.Call == bench.CallLatency })
	refused[i].Errno = "EACCES"
	for name, c := range map[string]struct {
		files    map[string]string
		attempts []bench.Attempt
		severity bench.Severity
		says     string
	}{
		"held":     {nil, granted(), bench.SeverityFit, "granted at 0 µs"},
		"not held": {nil, refused, bench.SeverityWarning, "up to 133 µs late, 1.33 % of the cycle of 10ms"},
		"disabled": {map[string]string{"sys/devices/system/cpu/cpu2/cpuidle/state1/disable": "1", "sys/devices/system/cpu/cpu3/cpuidle/state1/disable": "1"}, refused, bench.SeverityFit, "POLL"},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(t, Check(factsWith(t, c.files, c.attempts), quietPlan()), "cstates")
			if f.Severity != c.severity || !strings.Contains(f.Title+f.Seen+f.Cost, c.says) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// A root on which nothing was tried is not judged by guesses.
func TestNothingTriedIsNotKnown(t *testing.T) {
	findings := Check(factsWith(t, nil, nil), quietPlan())
	if f := find(t, findings, "attempts"); f.Severity != bench.SeverityUnknown {
		t.Errorf("%+v", f)
	}
	if got, why := bench.FitnessOf(findings); got != bench.FitnessUnknown || len(why) != 1 {
		t.Errorf("%s, %q", got, why)
	}
}

// The attempts that a captured root carries are read, and nonsense is refused.
func TestARootCarriesItsAttempts(t *testing.T) {
	all := tunedMachine()
	all[AttemptsFile] = `[{"call":"mlockall","what":"mlockall","errno":"ENOMEM","value":0}]`
	f, err := ReadFacts(rootOf(t, all))
	if err != nil || len(f.Attempts) != 1 || f.Attempts[0].Errno != "ENOMEM" {
		t.Errorf("%+v, %v", f.Attempts, err)
	}
	all = maps.Clone(all)
	all[AttemptsFile] = "["
	if _, err := ReadFacts(rootOf(t, all)); err == nil || !strings.Contains(err.Error(), "capture the machine again") {
		t.Errorf("error %v", err)
	}
}
