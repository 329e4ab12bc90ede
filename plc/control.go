package plc

import "sync/atomic"

// Control is what the owning process says to a running task and what the task says back.
// Everything is an atomic; the comment names the side that writes. The task looks at
// requests between two releases, once a release: nothing here wakes it.
//
// NB: the owner may fill it before Run; it must not be copied.
type Control struct {
	// Written by the owner.

	// Stop ends Run: during a release, after it; while the task sleeps, when it wakes,
	// without another release. Latest one period after the store.
	Stop atomic.Bool
	// Hold makes the task wake on its grid and do nothing: no program, no IO, no record
	// (IO that is a Holder is called instead). For the floor, which needs a quiet machine.
	Hold atomic.Bool
	// Iterations is the count each release runs its program with; 0 runs none: the task
	// is then an I/O simulator. Written by the task when it served Target.
	Iterations atomic.Int64
	// Shift moves the origin of the grid by that many ns at the next boundary, once; the
	// task takes it with Swap(0). Requests add up: use Add. The index goes on counting, so
	// no release is run twice; a shift to earlier may skip some, which is counted.
	Shift atomic.Int64
	// Target asks for calibration: when positive, the task calibrates its program at the
	// next boundary on its own thread to that calculation time (ns), stores Iterations,
	// then stores 0 here. Releases that pass meanwhile are skipped and counted.
	Target atomic.Int64

	// Written by the task.

	// K is the newest index that the task executed or held, stored when that ended; its
	// value before the first is the first index − 1.
	K atomic.Int64
	// Origin is the origin of the grid, ns, with every shift so far.
	Origin atomic.Int64
	// Executed, Held and Skipped count indices since the start; their sum is K − first + 1
	// between two releases.
	Executed, Held, Skipped atomic.Int64
}
