// Package rt is the kernel border: the only room that imports golang.org/x/sys and the
// only one with build tags. It gives the other rooms a clock, sleeps that end at an
// absolute instant, scheduling of threads, locked and shared memory, socket time stamps
// and the kernel's accounting of a thread, each as one call with one meaning.
//
// It refuses:
//   - to decide. It has no default policy, priority, CPU or interval: the plan has them.
//   - to adjust. What the kernel will not do as asked is an error that names the way out,
//     never a smaller request made in silence.
//   - to measure. It hands out instants and counters and keeps no statistics.
//   - the start of a process that would hang the machine: see [Exec].
//
// A goroutine is not a thread. Functions that act on "the calling thread" need a caller
// that holds [runtime.LockOSThread].
//
// Temperatures: a function whose comment says hot allocates nothing, takes no lock and
// returns a bare [syscall.Errno] instead of a wrapped error; warm ones may park or be
// woken; cold ones allocate and explain.
//
// On systems other than Linux every function exists and returns an error that wraps
// [errors.ErrUnsupported], or the "unknown" value that its comment names, so that reports
// can be written anywhere.
package rt
