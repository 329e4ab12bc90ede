// Package cyclictest measures how late a thread wakes from an absolute sleep, as rt-tests'
// cyclictest does.
//
// One thread a CPU, SCHED_FIFO 99, sleeps with clock_nanosleep(CLOCK_MONOTONIC,
// TIMER_ABSTIME) to instants of a grid, first + n·interval. The latency of a wake-up is the
// clock read right after the sleep minus the instant it was due: timer, interrupt,
// scheduler, the return from the system call and one read of the clock (about 25 ns, not
// subtracted). A wake-up that comes after the next instant skips what it slept over; each
// skipped instant is counted as missed. cycles + missed is the number of instants.
//
// Latencies are counted twice: in buckets of 1 µs, as rt-tests has them (its text and JSON
// are made of these), and in logarithmic buckets of at most 1.6 % width for the quantiles;
// count, sum, squares, minimum and maximum are exact, in ns.
//
// The loop runs in a process of its own, in one function that neither allocates nor can be
// preempted by the Go runtime (suites.md, R1 to R5). It makes raw system calls, so that its
// threads keep their Ps.
//
// It cannot tell who delayed a wake-up: oslat tells gaps of a busy CPU, trace who ran. A
// maximum is a property of the run's length and machine, not of this program.
package cyclictest
