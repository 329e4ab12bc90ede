package rt

import "strconv"

// Policy is a scheduling policy by the kernel's own number.
//
// https://man7.org/linux/man-pages/man7/sched.7.html
type Policy int

// The kernel's scheduling policies (include/uapi/linux/sched.h).
const (
	Other    Policy = 0
	FIFO     Policy = 1
	RR       Policy = 2
	Batch    Policy = 3
	Idle     Policy = 5
	Deadline Policy = 6
)

// String is the kernel's name of the policy.
func (p Policy) String() string {
	switch p {
	case Other:
		return "SCHED_OTHER"
	case FIFO:
		return "SCHED_FIFO"
	case RR:
		return "SCHED_RR"
	case Batch:
		return "SCHED_BATCH"
	case Idle:
		return "SCHED_IDLE"
	case Deadline:
		return "SCHED_DEADLINE"
	}
	return "policy " + strconv.Itoa(int(p))
}

// RealTime reports whether threads of this policy run until they block.
func (p Policy) RealTime() bool { return p == FIFO || p == RR }

// Attr is how a thread is scheduled.
type Attr struct {
	Policy      Policy
	Priority    int   // 1..99 for FIFO and RR, 0 for the others
	ResetOnFork bool  // threads and processes that this one makes start as SCHED_OTHER
	CPUs        []int // affinity, ascending; nil in SetThread leaves it as it is
}
