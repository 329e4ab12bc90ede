package rt

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// validate refuses what the kernel would refuse with a bare EINVAL, and SCHED_DEADLINE,
// whose three times an Attr does not carry.
func (a Attr) validate() error {
	switch {
	case a.Policy == Deadline:
		return fmt.Errorf("%v can be read but not set: use SCHED_FIFO", a.Policy)
	case a.Policy.RealTime() && (a.Priority < 1 || a.Priority > 99):
		return fmt.Errorf("%v needs a priority from 1 to 99, not %d", a.Policy, a.Priority)
	case !a.Policy.RealTime() && a.Priority != 0:
		return fmt.Errorf("%v has no priority: leave it 0, not %d", a.Policy, a.Priority)
	}
	return nil
}

// SetThread sets the affinity (when a.CPUs is not nil), then the policy and priority of a
// thread; 0 is the calling one. The order is fixed: a real-time thread must never run,
// even once, on a CPU that is not its own. The nice value stays. Cold.
//
// Errors wrap the kernel's: EPERM when the policy needs a privilege, ESRCH when the
// thread is gone.
//
// https://man7.org/linux/man-pages/man2/sched_setattr.2.html
func SetThread(tid int, a Attr) error {
	if err := a.validate(); err != nil {
		return fmt.Errorf("schedule thread %d: %w", tid, err)
	}
	if a.CPUs != nil {
		if err := SetAffinity(tid, a.CPUs); err != nil {
			return err
		}
	}
	return setPolicy(tid, a)
}

// setPolicy is SetThread without the affinity.
func setPolicy(tid int, a Attr) error {
	now, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return fmt.Errorf("sched_getattr of thread %d: %w", tid, err)
	}
	want := unix.SchedAttr{
		Size:     unix.SizeofSchedAttr,
		Policy:   uint32(a.Policy),
		Priority: uint32(a.Priority),
		Nice:     now.Nice,
	}
	if a.ResetOnFork {
		want.Flags = unix.SCHED_FLAG_RESET_ON_FORK
	}
	err = unix.SchedSetAttr(tid, &want, 0)
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("sched_setattr of thread %d to %v %d: %w: needs CAP_SYS_NICE, or RLIMIT_RTPRIO of at "+
			"least %d; in a container --cap-add SYS_NICE --ulimit rtprio=99, and a cgroup whose cpu.rt_runtime_us is not 0",
			tid, a.Policy, a.Priority, err, a.Priority)
	}
	if err != nil {
		return fmt.Errorf("sched_setattr of thread %d to %v %d: %w", tid, a.Policy, a.Priority, err)
	}
	return nil
}

// ReadThread is the policy, priority and affinity that the kernel holds for a thread; 0
// is the calling one. Cold.
func ReadThread(tid int) (Attr, error) {
	got, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return Attr{}, fmt.Errorf("sched_getattr of thread %d: %w", tid, err)
	}
	cpus, err := Affinity(tid)
	if err != nil {
		return Attr{}, err
	}
	return Attr{
		Policy:      Policy(got.Policy),
		Priority:    int(got.Priority),
		ResetOnFork: got.Flags&unix.SCHED_FLAG_RESET_ON_FORK != 0,
		CPUs:        cpus,
	}, nil
}

// maxCPUs is the largest NR_CPUS of the kernels of amd64 and arm64 distributions.
const maxCPUs = 8192

// chooseCPUs is the way out of a refused affinity.
const chooseCPUs = "choose online CPUs of this process's cpuset; in a container --cpuset-cpus"

// SetAffinity allows a thread (0: the calling one) the given CPUs and no others, and
// reads the mask back: the kernel silently leaves out CPUs that are offline or outside
// the cpuset. Such a request is refused and the mask put back. Cold.
//
// https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html
func SetAffinity(tid int, cpus []int) error {
	set := unix.NewCPUSet(maxCPUs)
	for _, c := range cpus {
		if c < 0 || c >= maxCPUs {
			return fmt.Errorf("affinity of thread %d: there is no CPU %d", tid, c)
		}
		set.Set(c)
	}
	before, err := Affinity(tid)
	if err != nil {
		return err
	}
	if err := unix.SchedSetaffinityDynamic(tid, set); err != nil {
		return fmt.Errorf("sched_setaffinity of thread %d to CPUs %v: %w: %s", tid, cpus, err, chooseCPUs)
	}
	got, err := Affinity(tid)
	if err != nil {
		return err
	}
	if len(got) == set.Count() {
		return nil
	}
	err = fmt.Errorf("sched_setaffinity of thread %d to CPUs %v: the kernel allows %v of them: %w: %s",
		tid, cpus, got, unix.EINVAL, chooseCPUs)
	set.Zero()
	for _, c := range before {
		set.Set(c)
	}
	return errors.Join(err, unix.SchedSetaffinityDynamic(tid, set))
}

// Affinity is the CPUs that a thread (0: the calling one) may run on, ascending. Cold.
func Affinity(tid int) ([]int, error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(tid, set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity of thread %d: %w", tid, err)
	}
	cpus := make([]int, 0, set.Count())
	for c := 0; c < maxCPUs && len(cpus) < cap(cpus); c++ {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// Gettid is the kernel's number of the calling thread. Cold.
func Gettid() int { return unix.Gettid() }

// Threads is the numbers of this process's threads at the moment of reading, ascending.
// Cold.
//
// https://man7.org/linux/man-pages/man5/proc_pid_task.5.html
func Threads() ([]int, error) { return threads("self") }

// ThreadsOf is the numbers of the threads of process pid at the moment of reading,
// ascending. Cold.
func ThreadsOf(pid int) ([]int, error) { return threads(strconv.Itoa(pid)) }

func threads(process string) ([]int, error) {
	dir := "/proc/" + process + "/task"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	tids := make([]int, 0, len(entries))
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			return nil, fmt.Errorf("list threads: %s/%s: %w", dir, e.Name(), err)
		}
		tids = append(tids, tid)
	}
	slices.Sort(tids)
	return tids, nil
}
