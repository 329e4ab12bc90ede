package bench

import "testing"

// An exception is in durations: its instants fall on the clock of the facts.
func TestExceptionApply(t *testing.T) {
	f := Facts{Due: 1_000_000, ServerLog: true, CommonClock: true, Arrived: true, Received: 1_009_000, Kernel: 1_008_500, KernelExact: true}
	Exception{Executed: true, Sent: true, Took: 500, Before: 700}.Apply(&f)
	if f.Done != 1_000_500 || f.Before != 1_000_700 {
		t.Errorf("done %d, before %d", f.Done, f.Before)
	}
	if out, cause := Attribute(f, 5_000, 10_000); out != Late || cause != LateNetwork {
		t.Errorf("%s, %s; the network took 7,800 of 10,000 ns", out, cause)
	}
	f.Before = 0
	Exception{Executed: true, Sent: true}.Apply(&f)
	if f.Before != 0 {
		t.Errorf("before %d of an exception that does not say it", f.Before)
	}
}
