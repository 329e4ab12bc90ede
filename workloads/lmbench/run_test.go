package lmbench

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// probes stands in for the conductor's Start: each probe answers by what answers says of
// its figure.
func probes(answers func(o order) (answer, error)) func(context.Context, bench.ProbeOrder) (*bench.ProbeRun, error) {
	return func(_ context.Context, o bench.ProbeOrder) (*bench.ProbeRun, error) {
		a, err := answers(o.Input.(order))
		done := make(chan struct{})
		close(done)
		return &bench.ProbeRun{
			Ready: func() error { return nil }, Go: func() error { return nil }, Stop: func() {}, Kill: func() {}, Close: func() {}, Done: done,
			Info: func() (bench.ProcessInfo, error) { return bench.ProcessInfo{Name: "probe"}, nil },
			Wait: func(into any) error {
				if err != nil {
					return err
				}
				data, _ := json.Marshal(a)
				return json.Unmarshal(data, into)
			},
		}, nil
	}
}

func good(o order) (answer, error) {
	f, err := findFigure(o.Figure)
	return answer{Readings: f.complete([]bench.Reading{samples(1000, 2000, 3000).reading("m", median, micros)}, "CPU 1")}, err
}

func job(answers func(o order) (answer, error)) bench.Job {
	return bench.Job{Root: "/", Measured: []int{1}, Housekeeping: []int{0}, Start: probes(answers), Progress: func(bench.Progress) {},
		Host: bench.Host{Name: "here", Kernel: "6.1.0-rt #1 SMP"}}
}

func measured(t *testing.T, r *runner, ctx context.Context, j bench.Job) bench.SuiteResult {
	t.Helper()
	out, err := r.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryFigureHasAReading(t *testing.T) {
	r := newRunner().(*runner)
	r.runs = 2
	out := measured(t, r, t.Context(), job(good))
	if !out.Complete {
		t.Error("incomplete")
	}
	for _, f := range figures() {
		n := 0
		for _, g := range out.Readings {
			if g.Table == f.table && g.Name == f.name && g.Headline && g.Value != nil {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%s has %d readings of 2 runs", f.key(), n)
		}
	}
	if last := out.Readings[len(out.Readings)-1]; last.Run != "2" || last.Placement != "CPU 1" || last.Policy != "SCHED_OTHER" {
		t.Errorf("the last is %+v", last)
	}
	text := ""
	for _, f := range out.Figures {
		text += f.Series + "=" + f.Text + ";"
	}
	if text != "host=here;os=Linux 6.1.0-rt;" {
		t.Errorf("of the host: %s", text)
	}
	if len(out.Processes) != 1 {
		t.Errorf("%d processes", len(out.Processes))
	}
}

// A figure that cannot be had is n/a with its reason, and the others go on.
func TestAFigureWithoutANumber(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		err    error
		want   string
	}{
		"hung":             {err: errors.New("lmbench/figure hung: it was killed 30s after its begin"), want: "hung"},
		"says why":         {answer: answer{NA: "no shell in this image"}, want: "no shell"},
		"measured nothing": {answer: answer{}, want: "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner().(*runner)
			out := measured(t, r, t.Context(), job(func(o order) (answer, error) {
				if o.Figure == "processor/sh" {
					return c.answer, c.err
				}
				return good(o)
			}))
			for _, g := range out.Readings {
				if g.Name == "sh" && (g.Value != nil || !strings.Contains(g.NA, c.want) || !g.Headline) {
					t.Errorf("%+v", g)
				}
				if g.Name != "sh" && g.Name != "clock" && g.Value == nil {
					t.Errorf("%s is n/a: %s", g.Name, g.NA)
				}
			}
		})
	}
}

// Ended from outside, what was measured until then stands, and it says that it is not all.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	out := measured(t, newRunner().(*runner), ctx, job(func(o order) (answer, error) {
		if n++; n == 4 {
			cancel()
			return answer{Stopped: true}, nil
		}
		return good(o)
	}))
	if out.Complete || len(out.Readings) != 1+3 {
		t.Errorf("complete %v with %d readings", out.Complete, len(out.Readings))
	}
}

// Beside another suite it begins when that one does and goes on until it ends.
func TestBesideAnother(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	n := 0
	j := job(func(o order) (answer, error) {
		select {
		case <-begin:
		default:
			t.Error("measured before the begin")
		}
		if n++; n == 5 {
			close(end)
		}
		time.Sleep(time.Millisecond) // the stop is seen by another goroutine
		return good(o)
	})
	j.Begin, j.End = begin, end
	r := newRunner().(*runner)
	if err := r.setOnly("null_call,stat"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(begin) })
	out := measured(t, r, t.Context(), j)
	runs := map[string]int{}
	for _, g := range out.Readings {
		runs[g.Run]++
	}
	if !out.Complete || runs["1"] != 3 || runs["2"] != 3 || n < 5 {
		t.Errorf("complete %v, readings by run %v, %d figures", out.Complete, runs, n)
	}
}

func TestLaterRunsAreCountedOnly(t *testing.T) {
	end := make(chan struct{})
	n := 0
	j := job(func(o order) (answer, error) {
		if n++; n == mostRuns+10 {
			close(end)
		}
		return good(o)
	})
	j.End = end
	r := newRunner().(*runner)
	if err := r.setOnly("stat"); err != nil {
		t.Fatal(err)
	}
	out := measured(t, r, t.Context(), j)
	if len(out.Readings) != 2*mostRuns || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "kept") {
		t.Errorf("%d readings, warnings %q", len(out.Readings), out.Warnings)
	}
}

func TestOrders(t *testing.T) {
	stat, err := findFigure("processor/stat")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		runner                 runner
		measured, housekeeping []int
		cpu, other, tries      int
		enough                 time.Duration
	}{
		"two CPUs": {runner{enough: defaultEnough}, []int{1}, []int{0}, 1, 0, defaultTries, defaultEnough},
		"several":  {runner{enough: defaultEnough}, []int{2, 3}, []int{0, 1}, 2, 3, defaultTries, defaultEnough},
		"one CPU":  {runner{enough: defaultEnough}, []int{0}, []int{0}, 0, noCPU, defaultTries, defaultEnough},
		"unpinned": {runner{enough: time.Second, unpinned: true}, []int{1}, []int{0}, noCPU, noCPU, defaultTries, time.Second},
		"quick":    {runner{enough: defaultEnough, quick: true}, []int{1}, []int{0}, 1, 0, quickTries, quickEnough},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(good)
			j.Measured, j.Housekeeping, j.Dir = c.measured, c.housekeeping, "somewhere"
			m := measurement{runner: &c.runner, job: j}
			o := m.order(stat)
			if o.CPU != c.cpu || o.Other != c.other || o.Tries != c.tries || o.Enough != c.enough || !strings.HasSuffix(o.Dir, "/somewhere") {
				t.Errorf("%+v", o)
			}
			if l := m.limit(stat); l < figureLimit || c.enough > defaultEnough && l < 10*figureLimit {
				t.Errorf("the watchdog's limit is %s", l)
			}
		})
	}
}
