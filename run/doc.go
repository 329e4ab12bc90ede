// Package run is the conductor: on the housekeeping CPUs it starts the measured
// processes, leads them through the phases of metrics.md, drains their rings, joins both
// logs by grid index and turns them into a result.
//
// It refuses to measure in its own process, to decide what a result is worth (judge) and
// to lose anything silently: a child that dies, a ring that overran and a phase that was
// cut short stand in the result.
package run
