package run

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// ledger are books of a phase of n cycles of 10 ms that begins at index 100 and, on the
// clock, that many cycles ago.
func ledger(t *testing.T, host bench.PLCHost, n, ago int64, before *opcua.Snapshot) *books {
	t.Helper()
	const period = int64(10 * time.Millisecond)
	plan := bench.Plan{Task: bench.Task{Host: host, Interval: 10 * time.Millisecond, Deadline: 10 * time.Millisecond,
		ThiefAbove: 10 * time.Millisecond, Publish: bench.PublishEnd}}
	grid := bench.Grid{Origin: rt.Now() - (100+ago)*period, Period: period}
	return newBooks(plan, grid, bench.Window{First: 100, N: n, Subscription: 7}, before)
}

func (b *books) write(p interface{ Record(*record.Record) }) {
	var r record.Record
	p.Record(&r)
	b.join.server(&r)
}

// sentAt books release k as executed, and its value as sent after the given time.
func (b *books) sentAt(k, after int64) {
	d := b.phase.Grid.Due(k)
	b.write(&record.Release{K: k, Due: d, Wake: d + 1000, Begin: d + 2000, End: d + 3000, Done: d + max(after, 4000), Input: -1})
	b.write(&record.Sent{K: k, First: k, Values: 1, Sequence: k, Before: d + after, Release: k, Subscription: 7, Bytes: 150})
}

// An exception says when its value left, so that the client can tell the network's part.
func TestAnExceptionSaysWhenItWasSent(t *testing.T) {
	b := ledger(t, bench.HostServer, 10, 100, nil)
	for k := int64(99); k < 115; k++ {
		after := int64(3_000_000)
		if k == 105 {
			after = 12_000_000
		}
		b.sentAt(k, after)
	}
	p := b.part(bench.Window{First: 100, N: 10, Done: true}, bench.Host{}, bench.ProcessInfo{}, nil, false)
	if p.Executed != 10 || len(p.Exceptions) != 1 || p.Exceptions[0].K != 105 || p.Exceptions[0].Before != 12_000_000 {
		t.Errorf("executed %d, exceptions %+v", p.Executed, p.Exceptions)
	}
}

// What a process spent between two snapshots is divided by all that it sent between them,
// whoever took it.
func TestPerPacketCountsWhatTheSnapshotsCount(t *testing.T) {
	before := &opcua.Snapshot{Mallocs: 1000, CPU: 5_000, Server: map[string]int64{"Notifications": 10}}
	after := &opcua.Snapshot{Mallocs: 1400, CPU: 45_000, Server: map[string]int64{"Notifications": 50}}
	b := ledger(t, bench.HostServer, 10, 100, before)
	for k := int64(99); k < 115; k++ {
		b.sentAt(k, 3_000_000)
	}
	p := b.part(bench.Window{First: 100, N: 10, Done: true}, bench.Host{}, bench.ProcessInfo{}, after, false)
	got := map[string]float64{}
	for _, f := range p.Figures {
		if f.Statistic == "per_packet" {
			got[f.Series] = *f.Value
		}
	}
	if got["allocations"] != 10 || got["cpu"] != 1000 {
		t.Errorf("per packet %v; 400 allocations and 40,000 ns for 40 messages", got)
	}
}

// A phase of a day that ends at once holds what was, not a day of skipped releases; and
// what a dead server skipped is counted, not kept.
func TestBooksAreBounded(t *testing.T) {
	day := int64(24 * time.Hour / (10 * time.Millisecond))
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		b := ledger(t, host, day, 20_000, nil)
		b.sentAt(100, 3_000_000)
		p := b.part(bench.Window{First: 100, N: day, Done: true}, bench.Host{}, bench.ProcessInfo{}, nil, false)
		if p.Executed != 1 || len(p.Exceptions) != bench.PartMax || len(p.Abnormal) != bench.PartMax ||
			p.ExceptionsLeftOut < 9_990 || p.ExceptionsLeftOut > 10_999 || p.LeftOut != p.ExceptionsLeftOut {
			t.Errorf("%s: executed %d, %d exceptions and %d more, %d abnormal and %d more", host, p.Executed,
				len(p.Exceptions), p.ExceptionsLeftOut, len(p.Abnormal), p.LeftOut)
		}
	}
}

// A part that is too long loses the abnormal cycles first, then the seconds, then the
// exceptions, and says so.
func TestBoundedDropsInOrder(t *testing.T) {
	block := bench.Block{Squares: strings.Repeat("1", 30)}
	p := bench.Part{Abnormal: make([]bench.Release, 100), LeftOut: 1, Exceptions: make([]bench.Exception, 100), ExceptionsLeftOut: 2,
		Series: []bench.Series{{Name: "x", Blocks: []bench.Block{block, block, block, block}}},
		End:    &bench.End{Connections: []bench.Connection{{Seen: make(bench.Retransmissions, 100)}}}}
	size := func(p bench.Part) int {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	for _, tc := range []struct {
		name                                string
		limit                               int
		abnormal, blocks, exceptions, times int
	}{
		{"all", size(p), 100, 4, 100, 100},
		{"no abnormal", size(p) - 1, 0, 4, 100, 100},
		{"no seconds", size(bench.Part{Exceptions: p.Exceptions, Series: p.Series, End: p.End}) - 1, 0, 0, 100, 100},
		{"no exceptions", size(bench.Part{End: p.End}) + 500, 0, 0, 0, 100},
		{"no times", size(bench.Part{End: p.End.WithoutTimes()}) + 500, 0, 0, 0, 0},
	} {
		text, err := bounded(p, tc.limit)
		var got bench.Part
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || len(text) > tc.limit {
			t.Errorf("%s: %d bytes of %d, %v", tc.name, len(text), tc.limit, err)
			continue
		}
		if c := got.End.Connections[0]; len(c.Seen) != tc.times || c.LeftOut != int64(100-tc.times) {
			t.Errorf("%s: %d times, %d left out", tc.name, len(c.Seen), c.LeftOut)
		}
		if len(got.Abnormal) != tc.abnormal || got.LeftOut != int64(101-tc.abnormal) || len(got.Series[0].Blocks) != tc.blocks ||
			(len(got.Warnings) > 0) != (tc.blocks == 0) || len(got.Exceptions) != tc.exceptions || got.ExceptionsLeftOut != int64(102-tc.exceptions) {
			t.Errorf("%s: %d abnormal and %d, %d blocks, %q, %d exceptions and %d", tc.name, len(got.Abnormal), got.LeftOut,
				len(got.Series[0].Blocks), got.Warnings, len(got.Exceptions), got.ExceptionsLeftOut)
		}
	}
	if _, err := bounded(p, 10); err == nil {
		t.Error("10 bytes held a part")
	}
	if len(p.Abnormal) != 100 || len(p.Series[0].Blocks) != 4 {
		t.Error("the part itself was changed")
	}
}
