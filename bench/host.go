package bench

// Host is the fingerprint of a machine: what Resolve places processes by and what a
// reader needs to believe a result. Fields that could not be read are empty, and
// Unreadable says why.
type Host struct {
	Name         string     `json:"name"`
	OS           string     `json:"os"`     // PRETTY_NAME of os-release
	Kernel       string     `json:"kernel"` // release and version
	Arch         string     `json:"arch"`
	CPUModel     string     `json:"cpu_model"`
	CPUs         []CPU      `json:"cpus"`         // online, ascending
	Allowed      []int      `json:"allowed_cpus"` // affinity of this process
	Isolated     []int      `json:"isolated_cpus"`
	NohzFull     []int      `json:"nohz_full_cpus"`
	Cpuset       []int      `json:"cpuset_cpus"`  // what the cgroup lets an affinity be set to; isolated CPUs are in here, not in Allowed; nil: not known
	NetworkCPUs  []int      `json:"network_cpus"` // CPUs that take network cards' interrupts; nil: not known
	Memory       int64      `json:"memory_bytes"`
	Preempt      string     `json:"preempt"` // "PREEMPT_RT", "PREEMPT_DYNAMIC (none)", …
	Cmdline      string     `json:"cmdline"`
	ClockSource  string     `json:"clock_source"`
	BootID       string     `json:"boot_id"`
	TimeNS       uint64     `json:"time_namespace"`
	Hypervisor   string     `json:"hypervisor"` // empty: none seen
	Governor     string     `json:"governor"`
	FIFOLimit    *FIFOLimit `json:"fifo_limit,omitempty"` // see FIFOLimitOf; nil in results of older versions
	RTRuntimeUS  *int64     `json:"sched_rt_runtime_us"`  // −1: unlimited
	RTPeriodUS   *int64     `json:"sched_rt_period_us"`
	RTGroupSched *bool      `json:"rt_group_sched"`
	Container    string     `json:"container"` // podman, docker, kubernetes, …; empty: none seen
	CgroupQuota  string     `json:"cgroup_cpu_max"`
	Limits       HostLimits `json:"limits"`
	Capabilities []string   `json:"capabilities"` // of SYS_NICE, IPC_LOCK, SYS_ADMIN, those held
	Mitigations  []string   `json:"mitigations"`
	THP          string     `json:"transparent_hugepages"`
	Unreadable   []string   `json:"unreadable,omitempty"`
}

// CPU is one online processor.
type CPU struct {
	ID       int     `json:"id"`
	Core     int     `json:"core"`
	Package  int     `json:"package"`
	Node     int     `json:"node"`
	Siblings []int   `json:"siblings"`   // SMT threads of the same core, itself included
	IRQs     int64   `json:"interrupts"` // device interrupts since boot; −1: not known
	Caches   []Cache `json:"caches,omitempty"`
	// FIFOLimit is set where it is another than the host's: see Host.FIFOLimitOf.
	FIFOLimit *FIFOLimit `json:"fifo_limit,omitempty"`
}

// HostLimits are what the process may ask of the kernel.
type HostLimits struct {
	RTPrio  int64 `json:"rtprio"`  // −1: unlimited
	Memlock int64 `json:"memlock"` // bytes, −1: unlimited
	Files   int64 `json:"nofile"`
}
