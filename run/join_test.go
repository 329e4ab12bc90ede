package run

import (
	"testing"

	"opcycle/bench"
	"opcycle/record"
)

// The echoes of the warm-up's last cycles come when the books are open already: they are
// the client's own, not somebody else's.
func TestEchoesFromBeforeThePhaseAreNobodys(t *testing.T) {
	j := newJoin(100, 7, bench.Task{}, func(*row) {})
	echo := func(k int64) {
		var rec record.Record
		e := record.Echo{K: k, At: 1}
		e.Record(&rec)
		j.server(&rec)
	}
	for k := int64(89); k < 100; k++ {
		echo(k)
	}
	if j.forged != 0 {
		t.Errorf("%d forged", j.forged)
	}
	j.at(100)
	echo(100) // its own
	echo(101) // of a cycle that is not there yet
	if j.forged != 1 || j.rows[100&(joinRows-1)].echoAt != 1 {
		t.Errorf("%d forged", j.forged)
	}
}
