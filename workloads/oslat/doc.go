// Package oslat looks for gaps: stretches in which a CPU that has nothing else to do did not
// run its thread.
//
// oslat: one thread a CPU, SCHED_FIFO 99, reads the processor's counter for ever and takes
// the difference of each two readings. What is not the loop itself is time that somebody
// took: interrupts, the kernel, a hypervisor, system management. Every difference is
// counted (exact count, sum, least, largest; logarithmic buckets of at most 1.6 % width);
// those at or above the threshold are listed with their time. Before it, a second of the
// same loop finds the bias, the least difference, which is shown and not subtracted. The
// time lost in gaps and the time of the loop add up to the time that was watched, and that
// to the clock's within 0.1 %.
//
// hwlat: the kernel's own detector, which spins with interrupts off: what it sees, no
// operating system did. It needs tracefs and the tracer hwlat; without them it is n/a, and
// oslat is the next best: gaps of system and hardware, not of hardware alone.
//
// A FIFO thread that never sleeps meets RT throttling or the fair server where these are
// active: gaps as long as theirs (usually 40 to 60 ms) are counted as suspected throttling.
// It never sleeps, so that RLIMIT_RTTIME, its guard, is the run's own length and 5 s more.
// At priority 99 it also holds up the interrupt threads of its CPU (PREEMPT_RT has them at
// 50): what they would take is not seen as a gap; --priority 1 lets them in.
// It cannot tell who took the time.
package oslat
