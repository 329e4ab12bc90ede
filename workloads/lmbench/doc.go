// Package lmbench measures what the operating system beneath a control cycle costs, in the
// six tables of the lmbench summary. It is a reimplementation after the original's
// definitions (suites.md, section 1), not lmbench, and its figures are never called that.
//
// Every figure has a fresh process (suites.md, R1), whose main thread is pinned to the
// measured CPU, is SCHED_OTHER as the original's, and has a descriptor table of its own.
// An interval is some operations between two reads of CLOCK_MONOTONIC: as many as last 50
// ms, found as the original finds them; an interval shorter than 0.95 of that does not
// count. 11 intervals are one figure: their median, for memory latencies their minimum,
// with minimum, maximum, mean and standard deviation beside it. The loop and the two clock
// reads are not subtracted: together less than 1 ns an operation, which a row of null_call
// shows. What is subtracted from a figure (a signal's sending or handling, a ring's overhead, a
// mapping) stands in a row of its own. A figure whose middle half of repetitions spreads over more than a
// quarter of the median is printed as unstable.
//
// Files are made and deleted in the folder of the result, whose file system is named, and
// on tmpfs; nothing is synced, and a journal's commit may hit any repetition. Files that are
// read or mapped have 64 MiB, were synced, and the page cache has all of them before and
// after. A page fault is the cost of a page that is read for the first time, not of an
// exception: the kernel maps many pages at each, and a row has the cost by its own count.
// MB are 10^6 bytes, counted once: of a copy the bytes copied, of a store the bytes stored.
// The loops over memory are assembly, instruction by instruction what a C compiler makes of
// the original's without vectors. What stands for main memory is four times the largest
// cache (64 MiB at least), or 512 MiB where that is more, which a remark says.
//
// A load's latency is that of a list whose links are in random order, which no prefetcher
// foresees: this stands in the table. A row has lmbench's own order, every 128 bytes, which
// one does foresee. Caches are those that the kernel names, in a virtual machine what the
// hypervisor told it: the curve over all working sets shows what there is. Pages are of the
// ordinary size, so a random load also pays for the TLB; a row has huge pages.
//
// Peers are processes: raw clones of the probe, which run nothing but system calls, or
// programs. Where Go cannot do what the original does, the counterpart has its own name in
// the mechanism's row.
//
// It cannot tell what a libc adds, nor what a real-time thread would pay (cyclictest and
// sel4bench do), nor separate the kernel from the hypervisor below it.
package lmbench

import "opcycle/bench"

const suiteName = "lmbench"

// Suite is the suite's line in workloads.All.
func Suite() bench.Suite {
	return bench.Suite{
		Name:   suiteName,
		Short:  "what the operating system costs: system calls, processes, switches, pipes, sockets, files, memory",
		Method: method,
		New:    newRunner,
		Probes: map[string]bench.Probe{probeFigure: measure},
	}
}

const method = `lmbench measures the six tables of the lmbench summary: processes, context switching,
local communication latencies, file and virtual memory, bandwidths, memory latencies. It
is a reimplementation after lmbench's definitions, not lmbench.

Each figure is measured in a fresh process, pinned to the quietest CPU, as an ordinary
(SCHED_OTHER) thread: 11 intervals of 50 ms each, of which the table shows the median (of
memory latencies the minimum). Peers are processes of their own on the same CPU; a row
below the tables has the figure across two CPUs. A figure that cannot be had is n/a with
its reason; one whose repetitions disagree is marked. All of it takes less than three
minutes.

  opcycle suite lmbench                          everything
  opcycle suite lmbench --quick                  see the form in seconds
  opcycle suite lmbench --only processor,pipe    a table and a figure
  opcycle suite lmbench --runs 4                 four lines, as the published summary has`
