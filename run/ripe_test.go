package run

import (
	"slices"
	"testing"

	"opcycle/bench"
	"opcycle/record"
)

// wholeRow puts every record of index k into j.
func wholeRow(j *join, k int64) {
	at := func(kind record.Kind) *record.Record { return &record.Record{Kind: kind, K: k} }
	j.server(at(record.KindRelease))
	j.fromClient(at(record.KindWrite))
	j.fromClient(at(record.KindArrival))
}

// What has every record is handed out soon after, what has not a good while later, and the
// order stays; while nothing arrives, nothing is.
func TestRipen(t *testing.T) {
	var out []int64
	j := newJoinOf(1024, 0, 0, bench.Task{}, func(r *row) { out = append(out, r.k) })
	upTo := func() int64 { return int64(len(out)) - 1 }
	for k := range int64(100) {
		if k == 50 { // a lost value: only its release is known
			j.server(&record.Record{Kind: record.KindRelease, K: k})
			continue
		}
		wholeRow(j, k)
		j.ripen(10, 40)
	}
	if upTo() != 89 { // index 50 held up those behind it until 90 had arrived
		t.Fatalf("handed out up to %d", upTo())
	}
	if !slices.IsSorted(out) || len(out) != int(upTo()+1) {
		t.Errorf("%v", out)
	}
	for k := range int64(200) { // the server goes on, and no value arrives
		j.server(&record.Record{Kind: record.KindRelease, K: 100 + k})
		j.ripen(10, 40)
	}
	if upTo() != 89 {
		t.Errorf("handed out up to %d while nothing arrived", upTo())
	}
	j.finish(299)
	if upTo() != 299 || j.stray != 0 {
		t.Errorf("%d, %d stray", upTo(), j.stray)
	}
}

// An open row is waited for exactly as long as it is said to be.
func TestRipenWaitsForAnOpenRow(t *testing.T) {
	var out []int64
	j := newJoinOf(1024, 0, 0, bench.Task{}, func(r *row) { out = append(out, r.k) })
	j.server(&record.Record{Kind: record.KindRelease, K: 0})
	for k := int64(1); k <= 40; k++ {
		wholeRow(j, k)
		j.ripen(10, 40)
		if want := k == 40; (len(out) > 0) != want {
			t.Fatalf("at arrival %d: %v", k, out)
		}
	}
	if len(out) != 31 { // index 0, and all that are whole up to 40 - 10
		t.Errorf("%v", out)
	}
}
