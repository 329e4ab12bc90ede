// Package caterpillar measures how much the execution time of a memory workload varies: a
// caterpillar-style workload of our own. The vendor's program, its buffer and its pattern
// are not published; this one is, in full.
//
// The workload: a closed chain of 64-byte nodes in random order through a buffer of 1.5
// times the second-level cache (at most its share of the last level; the result says which).
// A step reads a node's function pointer, calls it, and the function adds a constant to a
// word of the node and leads to the next one: read, modify, write, indirect call. There are
// four functions, so that not even the branch target is known in advance (rt.Caterpillar,
// assembly). An iteration is 4096 steps, going on where the last one ended. The control,
// workload compute, is as many rounds of an integer recurrence that touches no memory.
//
// Measured: the processor's counter right before and right after each iteration (LFENCE
// RDTSC LFENCE, or CNTVCT on arm64; reference cycles, not core cycles; the cost of the two
// reads, some 60 cycles, is in it). A sample is 10,000 iterations:
//
//   - SampleMin, SampleMax: the least and the largest iteration;
//   - SampleJitter: the standard deviation of the 10,000;
//   - SampleSpread: SampleMax - SampleMin;
//   - SessionMin, SessionMax: since the second sample (the first warms up);
//   - SessionJitter: the standard deviation of all iterations since then.
//
// The thread runs at SCHED_FIFO 99, alone on its CPU. Where the kernel limits FIFO time (RT
// bandwidth, fair server), it rests between iterations, 15 ms of every 100 ms, so that it
// stays below 90 % of each of the kernel's periods; the iteration after a rest, whose cache
// somebody else may have used, is left out of the statistics and counted. Without rests
// (no-rest) gaps of 40 to 60 ms are counted as suspected throttling.
//
// It cannot tell what disturbed an iteration: interrupts, SMIs, a hypervisor and
// neighbours in the cache all look alike.
package caterpillar
