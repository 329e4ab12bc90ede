package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// tunedMachine is a root of four CPUs on which nothing is amiss: CPUs 2 and 3 are isolated
// as docs.kernel.org/admin-guide/kernel-parameters.html describes isolcpus, nohz_full,
// rcu_nocbs and irqaffinity, the files of each CPU as admin-guide/abi-testing.html (below
// sys/devices/system/cpu) names them, cgroup v2 as admin-guide/cgroup-v2.html.
func tunedMachine() map[string]string {
	files := map[string]string{
		"proc/sys/kernel/hostname":            "rt4",
		"proc/sys/kernel/osrelease":           "6.12.9-rt",
		"proc/sys/kernel/version":             "#1 SMP PREEMPT_RT Mon Jan 1 00:00:00 UTC 2025",
		"boot/config-6.12.9-rt":               "# CONFIG_RT_GROUP_SCHED is not set",
		"proc/cmdline":                        "isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1",
		"proc/meminfo":                        "MemTotal:       16384000 kB",
		"proc/sys/kernel/sched_rt_runtime_us": "-1",
		"proc/sys/kernel/sched_rt_period_us":  "1000000",
		"proc/sys/kernel/random/boot_id":      "7c9e6679-7425-40de-944b-e07fc1f90ae7",
		"proc/cpuinfo":                        "processor\t: 0\nmodel name\t: Example CPU\nflags\t\t: fpu tsc constant_tsc nonstop_tsc cat_l3",
		"proc/stat":                           "cpu  1 0 0 9 0 0 0 0 0 0\ncpu2 1 0 0 9 0 0 0 0 0 0\ncpu3 1 0 0 9 0 0 0 0 0 0",
		"proc/swaps":                          "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority",
		"proc/interrupts":                     "            CPU0       CPU1       CPU2       CPU3\n  24:       1000          0          0          0  PCI-MSI 1-edge      nvme0q0",
		"proc/irq/24/effective_affinity_list": "0",
		"proc/77/status":                      "Name:\topcycle\nTgid:\t77\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t0\nSeccomp:\t0\nCpus_allowed_list:\t0-1",
		"proc/77/uid_map":                     "         0          0 4294967295",
		"proc/77/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
			"Max locked memory         unlimited            unlimited            bytes     \n" +
			"Max realtime priority     99                   99                             \n" +
			"Max realtime timeout      unlimited            unlimited            us        ",
		"proc/77/cgroup":                      "0::/system.slice/opcycle.service",
		"proc/77/timerslack_ns":               "50000",
		"proc/2/task/2/stat":                  stat(2, "kthreadd", flagKernelThread, 0),
		"proc/1/task/1/stat":                  stat(1, "systemd", 0, 0),
		"sys/fs/cgroup/cpuset.cpus.effective": "0-3",
		"sys/fs/cgroup/system.slice/opcycle.service/cgroup.type":            "domain",
		"sys/fs/cgroup/system.slice/opcycle.service/cpu.max":                "max 100000",
		"sys/fs/cgroup/system.slice/opcycle.service/cpuset.cpus.effective":  "0-3",
		"sys/devices/system/clocksource/clocksource0/current_clocksource":   "tsc",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
		"sys/devices/system/cpu/online":                                     "0-3",
		"sys/devices/system/cpu/isolated":                                   "2-3",
		"sys/devices/system/cpu/nohz_full":                                  "2-3",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                      "1",
		"sys/devices/system/cpu/cpuidle/current_driver":                     "intel_idle",
		"sys/devices/system/cpu/vulnerabilities/meltdown":                   "Not affected",
		"sys/kernel/mm/transparent_hugepage/enabled":                        "always madvise [never]",
		"sys/kernel/debug/sched/fair_server/cpu2/runtime":                   "0",
		"sys/fs/resctrl/info/last_cmd_status":                               "ok",
		"etc/os-release":                                                    `PRETTY_NAME="Red Hat Enterprise Linux 9.5 (Plow)"`,
		"etc/tuned/active_profile":                                          "realtime",
		"etc/tuned/realtime-variables.conf":                                 "isolated_cores=2-3",
	}
	for _, n := range []string{"2", "3"} { // of CPUs 0 and 1 nothing more is read than that they are there
		cpu := "sys/devices/system/cpu/cpu" + n + "/"
		files[cpu+"topology/core_id"], files[cpu+"topology/physical_package_id"] = n, "0"
		files[cpu+"topology/thread_siblings_list"] = n
		files[cpu+"cpufreq/scaling_governor"] = "performance"
		files[cpu+"cpufreq/scaling_min_freq"], files[cpu+"cpufreq/scaling_max_freq"] = "800000", "3200000"
		files[cpu+"cpuidle/state0/name"], files[cpu+"cpuidle/state0/latency"] = "POLL", "0"
		files[cpu+"cpuidle/state1/name"], files[cpu+"cpuidle/state1/latency"] = "C6", "133"
		for _, f := range []string{"runtime", "period"} {
			files["sys/kernel/debug/sched/fair_server/cpu"+n+"/"+f] = map[string]string{"runtime": "0", "period": "1000000000"}[f]
		}
	}
	return files
}

// stat is a line of /proc/PID/task/TID/stat by proc_pid_stat(5): 52 fields, of which only
// those that are read differ from 0.
func stat(tid int, name string, flags, cpu int) string {
	fields := make([]string, 50)
	for i := range fields {
		fields[i] = "0"
	}
	fields[0] = "S"
	number := func(field int, v string) { fields[field-3] = v }
	number(9, strconv.Itoa(flags))
	number(14, "5")
	number(39, strconv.Itoa(cpu))
	return strconv.Itoa(tid) + " (" + name + ") " + strings.Join(fields, " ")
}

// granted are the attempts of a plan that gets everything.
func granted() []bench.Attempt {
	return []bench.Attempt{
		{Call: bench.CallAffinity, What: "sched_setaffinity", CPUs: []int{2, 3}}, {Call: bench.CallFIFO, What: "sched_setattr", Value: 80},
		{Call: bench.CallMlockall, What: "mlockall"}, {Call: bench.CallLatency, What: "open"}, {Call: bench.CallMemfd, What: "memfd_create"},
		{Call: bench.CallSMI, What: "read register 0x34"},
	}
}

func quietPlan() bench.Need {
	return bench.Need{Plan: "test", RT: bench.RTAuto, Interval: 10 * time.Millisecond, Measured: []int{2, 3}, Housekeeping: []int{0, 1}, Lock: true,
		Threads: []bench.NeedThread{{Name: "server", CPUs: []int{2}, FIFO: 45}, {Name: "plc", CPUs: []int{2}, FIFO: 80}, {Name: "client", CPUs: []int{3}, FIFO: 48}}}
}

// facts are those of the tuned machine with other files; an empty text takes one away.
func factsWith(t *testing.T, files map[string]string, attempts []bench.Attempt) Facts {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // a hundred small files a root: not on a disk that others write to
		t.Setenv("TMPDIR", "/dev/shm")
	}
	all := tunedMachine()
	for name, text := range files {
		if all[name] = text; text == "" {
			delete(all, name)
		}
	}
	link := "time:[4026531834]"
	if said := all["proc/77/ns/time ->"]; said != "" {
		link = said
		delete(all, "proc/77/ns/time ->")
	}
	root := rootOf(t, all)
	if err := os.Mkdir(filepath.Join(root, "proc/77/ns"), 0o755); err != nil {
		t.Fatal(err)
	}
	for at, target := range map[string]string{"proc/77/ns/time": link, "proc/self": "77"} {
		if err := os.Symlink(target, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ReadFacts(root)
	if err != nil {
		t.Fatal(err)
	}
	f.Attempts = attempts
	return f
}

func find(t *testing.T, findings []bench.Finding, key string) bench.Finding {
	t.Helper()
	for _, f := range findings {
		if f.Key == key {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", key, findings)
	return bench.Finding{}
}
