// Package cyclictest measures how late a thread wakes from an absolute sleep, as rt-tests'
// cyclictest does.
//
// Method. One thread a CPU, SCHED_FIFO 99, sleeps with clock_nanosleep(CLOCK_MONOTONIC,
// TIMER_ABSTIME) to instants of a grid, first + n·interval. The latency of a wake-up is the
// clock read right after the sleep minus the instant it was due: timer, interrupt,
// scheduler, the return from the system call and one read of the clock (about 25 ns, not
// subtracted). A wake-up that comes after the next instant skips what it slept over, as the
// original does; each skipped instant is counted as missed, as the original does not. So
// cycles + missed is the number of instants, to the last one.
//
// Latencies are counted twice: in buckets of 1 µs, cut off, as rt-tests has them (its text
// and JSON are made of these), and in logarithmic buckets of at most 1.6 % width for the
// quantiles, which are the upper edge of their bucket. Count, sum, squares, minimum and
// maximum are exact, in ns. The 16 longest are kept with their instants.
//
// What differs from the original: the threads share one grid (there, each begins when it was
// made); the main thread measures nothing and stays on the housekeeping CPUs; a thread
// without a real-time policy has a timer slack of 1 ns, not 50 µs.
//
// The loop runs in a process of its own, in one function that neither allocates nor can be
// preempted by the Go runtime (suites.md, R1 to R5). It makes raw system calls, so that its
// threads keep their Ps. It writes into memory that it shares with the conductor, which only
// copies it, five times a second a word, at a checkpoint some kB. The cross-check holds the
// whole against rt-tests' own program.
//
// Memory is bounded, whatever the length: 110 kB a CPU and 48 B a second of the run, 8.4 MB
// for 48 hours. A checkpoint is at most 0.5 MB a CPU: seconds are folded to at most 3600
// blocks.
//
// It cannot tell who delayed a wake-up: oslat tells gaps of a busy CPU, trace who ran, and
// a wake-up that is some 50 ms late usually met the kernel's limit of real-time threads. A
// maximum is a property of the run's length and machine, not of this program, and no bound.
package cyclictest
