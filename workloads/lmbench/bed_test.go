package lmbench

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func newBed(tries int) *bed {
	return &bed{order: order{Tries: tries, Quick: true}, enough: int64(10 * time.Millisecond), stop: new(uint32)}
}

// costs is an operation that takes so many ns each time, and what it was asked for.
func costs(ns int64, counts *[]int64) func(int64) (int64, error) {
	return func(n int64) (int64, error) {
		*counts = append(*counts, n)
		return n * ns, nil
	}
}

func TestRepeatFindsTheCount(t *testing.T) {
	for _, ns := range []int64{1, 100, 7777, 3_000_000, 50_000_000} {
		b, counts := newBed(5), []int64{}
		s, err := b.repeat(costs(ns, &counts))
		if err != nil {
			t.Fatalf("%d ns: %v", ns, err)
		}
		if len(s.each) != 5 || s.median() != float64(ns) {
			t.Errorf("%d ns: %v", ns, s.each)
		}
		length := float64(s.batch*ns) / float64(b.enough)
		if length < countsFrom || length > 1.5 && s.batch > 1 {
			t.Errorf("%d ns: an interval is %.2f of enough", ns, length)
		}
		if len(counts) > 5+25 {
			t.Errorf("%d ns: %d intervals", ns, len(counts))
		}
	}
}

// An operation that gets cheaper after the calibration is repeated until the intervals are
// long enough again, and the short ones do not count.
func TestRepeatDoesNotCountShortIntervals(t *testing.T) {
	b := newBed(4)
	calls := 0
	s, err := b.repeat(func(n int64) (int64, error) {
		if calls++; calls < 6 {
			return n * 5000, nil
		}
		return n * 500, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.each) != 4 || slices.Min(s.each) != 500 || float64(s.batch)*500 < countsFrom*float64(b.enough) {
		t.Errorf("%v, the last of %d operations", s.each, s.batch)
	}
}

func TestRepeatAtMost(t *testing.T) {
	var counts []int64
	s, err := newBed(3).repeatAtMost(50, costs(10, &counts))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.each) != 3 || s.batch != 50 || slices.Max(counts) != 50 {
		t.Errorf("%v of %d operations: asked for %v", s.each, s.batch, counts)
	}
}

// Two operations in turns: a machine that gets slower meanwhile is in both.
func TestAlternate(t *testing.T) {
	b, calls := newBed(5), int64(0)
	slowing := func(ns int64) operation {
		return func(n int64) (int64, error) {
			calls++
			return n * (ns + 10*calls), nil
		}
	}
	one, other, err := b.alternate(slowing(2000), slowing(1000))
	if err != nil || len(one.each) != 5 || len(other.each) != 5 {
		t.Fatalf("%v and %v: %v", one.each, other.each, err)
	}
	if d := one.less(other).median(); d < 950 || d > 1050 {
		t.Errorf("the difference is %v", d)
	}
	broken := errors.New("broken")
	if _, _, err := b.alternate(slowing(1), func(int64) (int64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

func TestRepeatGivesUp(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		op   func(b *bed) func(int64) (int64, error)
		want string
	}{
		"the operation fails": {func(*bed) func(int64) (int64, error) { return func(int64) (int64, error) { return 0, broken } }, "broken"},
		"a clock that stands": {func(*bed) func(int64) (int64, error) { return func(int64) (int64, error) { return 0, nil } }, "by the clock"},
		"nothing lasts":       {func(*bed) func(int64) (int64, error) { return func(int64) (int64, error) { return 200_000, nil } }, "no number of operations"},
		"the run was ended": {func(b *bed) func(int64) (int64, error) {
			return func(n int64) (int64, error) { *b.stop = 1; return 100 * n, nil }
		}, errStopped.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(3)
			if _, err := b.repeat(c.op(b)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestStream(t *testing.T) {
	var counts []int64
	s, err := newBed(3).stream(1<<20, costs(1<<20, &counts))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.reading("m", median, megabytes); r.Value == nil || *r.Value != 1000 {
		t.Errorf("1 byte a ns is %v MB/s: %s", r.Value, r.NA)
	}
}

func TestSlurp(t *testing.T) {
	text, err := slurp("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if got := field(text, "Name"); got == "" {
		t.Error("a process without a name")
	}
	if got := field(text, "Nothing"); got != "" {
		t.Errorf("a field that is not there is %q", got)
	}
	if _, err := slurp("/nowhere"); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("the error is %v", err)
	}
}
