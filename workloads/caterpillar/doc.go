// Package caterpillar measures how much the execution time of a memory workload varies: a
// caterpillar-style workload of our own. The vendor's program, its buffer and its pattern
// are not published; this one is, in full.
//
// The workload: a closed chain of 64-byte nodes in random order through a buffer of 1.5
// times the second-level cache (at most its share of the last level; the result says which).
// A step reads a node's function pointer, calls it, and the function adds a constant to a
// word of the node and leads to the next one: read, modify, write, indirect call. There are
// four functions, so that not even the branch target is known in advance (rt.Caterpillar,
// assembly). An iteration is 4096 steps, going on where the last one ended: it is about as
// long as the vendor's (a sample of his takes 1.5 s), and several of them go once round the
// chain. The control, workload compute, is as many rounds of an integer recurrence that
// touches no memory. At the end the buffer's checksum, or the recurrence's state, has to be
// what so many steps make of it.
//
// Measured: the processor's counter right before and right after each iteration (LFENCE
// RDTSC LFENCE, or CNTVCT on arm64, where ns is the better unit; reference cycles, not core
// cycles; the cost of the two reads, some 60 cycles, is in it). A sample is 10,000
// iterations:
//
//   - SampleMin, SampleMax: the least and the largest iteration;
//   - SampleJitter: the standard deviation of the 10,000;
//   - SampleSpread: SampleMax - SampleMin;
//   - SessionMin, SessionMax: since the second sample;
//   - SessionJitter: the standard deviation of all iterations since then, so that its square
//     is the mean of SampleJitter squared and of the squared drift of the samples' means.
//
// The first sample of a process warms up: it is in the table of samples, and neither in the
// session nor in the three rows (least, largest and standard deviation of SampleJitter).
//
// The thread runs at SCHED_FIFO 99, alone on its CPU. Where the kernel limits FIFO time (RT
// bandwidth, fair server; bench.FIFOLimit) it works for 90 % of what the kernel would let it
// run, and never 90 % of a period: by default 85.5 of every 100 ms. It rests between
// iterations, never inside one. The iterations after a rest, until the chain was walked once,
// are left out of the statistics and counted: somebody else may have used the caches.
// Without rests (no-rest) gaps as long as the kernel's throttling are counted as suspected.
// NB: other real-time threads of the CPU use the same time up, and can bring throttling on
// in spite of the rests.
//
// It cannot tell what disturbed an iteration: interrupts, SMIs, a hypervisor and neighbours
// in the cache all look alike. Nor is an undisturbed jitter nothing: iterations walk
// different parts of the buffer, which hit and miss the caches by some 0.5 % of an iteration
// differently (sd 2000 of 370,000 cycles on a Xeon with 2 MiB of L2). What CAT improves is above that.
package caterpillar
