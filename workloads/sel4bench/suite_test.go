package sel4bench

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"opcycle/bench"
)

// job has probes that answer by what answers says.
func job(mode bench.RTMode, answers func(o order) (answer, error)) bench.Job {
	start := func(_ context.Context, p bench.ProbeOrder) (*bench.ProbeRun, error) {
		a, err := answers(p.Input.(order))
		return &bench.ProbeRun{
			Ready: func() error { return nil }, Go: func() error { return nil }, Stop: func() {}, Close: func() {},
			Wait: func(into any) error {
				data, _ := json.Marshal(a)
				return errors.Join(err, json.Unmarshal(data, into))
			},
		}, nil
	}
	return bench.Job{Root: "/", Measured: []int{1}, Housekeeping: []int{0}, RT: mode, Start: start, Progress: func(bench.Progress) {}, Host: bench.Host{CPUModel: "a CPU"}}
}

func good(o order) (answer, error) {
	return answer{Call: tenThen(4000, o.N-ignored), Reply: tenThen(4100, o.N-ignored), Null: tenThen(250, o.N-ignored), Done: o.N, Overhead: 50, Worst: 60,
		Switches: int64(o.N), Peer: int64(o.N) + 2, Hz: 2e9, Unit: cyclesUnit, RatioWhy: "no counter", Policy: "SCHED_FIFO"}, nil
}

func runOnce(t *testing.T, ctx context.Context, j bench.Job) (bench.SuiteResult, error) {
	t.Helper()
	r := Suite().New().(*runner)
	r.quick = true
	return r.Run(ctx, j)
}

func TestEveryRow(t *testing.T) {
	out, err := runOnce(t, t.Context(), job(bench.RTAuto, good))
	if err != nil || !out.Complete || out.Failed != nil || out.Warnings != nil {
		t.Fatalf("%v %+v", err, out)
	}
	rows, heads := map[string]int{}, map[string]int{}
	for _, r := range out.Readings {
		rows[r.Table+"/"+r.Name]++
		if r.Headline {
			heads[r.Name]++
		}
		if r.Value == nil {
			t.Errorf("%s is n/a: %s", r.Name, r.NA)
		}
	}
	for name, want := range map[string]int{"sel4bench/irq_invoke": 2, "sel4bench/ipc_call": 3, "sel4bench/ipc_reply": 3, "sel4bench/notify": 3,
		"sel4bench_form/ipc_call": 3, "sel4bench_form/ipc_reply": 3, "sel4bench_form/notify": 3, "sel4bench/null_system_call": 1, "sel4bench/counter_read": 1} {
		if rows[name] != want {
			t.Errorf("%d rows of %s, want %d", rows[name], name, want)
		}
	}
	for _, name := range []string{"irq_invoke", "ipc_call", "ipc_reply", "notify"} {
		if heads[name] != 1 {
			t.Errorf("%d headlines of %s", heads[name], name)
		}
	}
}

func TestAProbeThatHangsFailsTheRunAndLeavesTheOtherRows(t *testing.T) {
	out, err := runOnce(t, t.Context(), job(bench.RTAuto, func(o order) (answer, error) {
		if o.Kind == kindNotify && o.Via == viaEventfd {
			return answer{}, errors.New("sel4bench/pair hung: it was killed 15s after its begin")
		}
		return good(o)
	}))
	if err != nil || len(out.Failed) != 1 || !strings.Contains(out.Failed[0], "notify over eventfd: sel4bench/pair hung") {
		t.Fatalf("%v, failed %q", err, out.Failed)
	}
	for _, r := range out.Readings {
		hung := r.Name == "notify" && r.Mechanism == viaEventfd
		if (r.Value == nil) != hung || hung && !strings.Contains(r.NA, "hung") || hung && r.Headline {
			t.Errorf("%+v", r)
		}
	}
}

func TestRefusedFIFO(t *testing.T) {
	refused := func(o order) (answer, error) {
		a, err := good(o)
		a.RTError = "operation not permitted: needs CAP_SYS_NICE"
		return a, err
	}
	out, err := runOnce(t, t.Context(), job(bench.RTAuto, refused))
	if err != nil || len(out.Absent) != 1 || out.Absent[0].What != "SCHED_FIFO" || !out.Complete {
		t.Errorf("auto: %v %+v", err, out.Absent)
	}
	if _, err = runOnce(t, t.Context(), job(bench.RTRequire, refused)); err == nil || !strings.Contains(err.Error(), "CAP_SYS_NICE") {
		t.Errorf("required, and the error is %v", err)
	}
}

func TestASwitchTooMuchIsSaid(t *testing.T) {
	lost := func(o order) (answer, error) {
		a, err := good(o)
		a.Peer += 200
		return a, err
	}
	out, _ := runOnce(t, t.Context(), job(bench.RTAuto, lost))
	if len(out.Warnings) != 6 || !strings.Contains(out.Warnings[0], "the peer was switched 702 times in 500 samples") {
		t.Errorf("%q", out.Warnings)
	}
}

func TestAnEarlyEndKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, err := runOnce(t, ctx, job(bench.RTAuto, func(o order) (answer, error) {
		if o.Kind == kindIPC {
			cancel()
		}
		return good(o)
	}))
	if err != nil || out.Complete || len(out.Readings) != 4 || out.Failed != nil {
		t.Errorf("%v complete %v, %d readings, failed %q", err, out.Complete, len(out.Readings), out.Failed)
	}
	never := job(bench.RTAuto, good)
	never.Begin = make(chan struct{})
	if out, err := runOnce(t, ctx, never); err != nil || out.Complete || out.Readings != nil {
		t.Errorf("before its begin: %v %+v", err, out)
	}
}

// Beside another suite it begins again until the end, and its result is of the last whole
// round: rows, clock and remarks of the same one.
func TestBesideAnotherSuite(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	close(begin)
	probes := 0
	j := job(bench.RTAuto, func(o order) (answer, error) {
		probes++
		a, err := good(o)
		a.Hz = float64(probes)
		a.LockError = "refused"
		if probes == 2*9+4 { // in the third round
			close(end)
		}
		return a, err
	})
	j.Begin, j.End = begin, end
	out, err := runOnce(t, t.Context(), j)
	if err != nil || !out.Complete || probes < 2*9+4 {
		t.Fatalf("%v complete %v after %d probes", err, out.Complete, probes)
	}
	if len(out.Absent) != 1 || len(out.Warnings) != 0 {
		t.Errorf("absent %+v, warnings %q", out.Absent, out.Warnings)
	}
	clocks := 0
	for _, f := range out.Figures {
		if f.Series == "clock" && f.Statistic == "rate" {
			if clocks++; int(*f.Value)%9 != 1 || *f.Value < 10 {
				t.Errorf("the clock is of probe %v", *f.Value)
			}
		}
	}
	if clocks != 1 {
		t.Errorf("%d clocks", clocks)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		measured, housekeeping []int
		want                   string
	}{
		"two CPUs":    {[]int{1, 2}, []int{0}, "--cpus, not 1-2"},
		"no CPU left": {[]int{0}, []int{0}, "--rt off"},
	} {
		j := job(bench.RTAuto, good)
		j.Measured, j.Housekeeping = c.measured, c.housekeeping
		if _, err := runOnce(t, t.Context(), j); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The watchdog never ends what the options allow.
func TestTheWatchdogFitsTheSamples(t *testing.T) {
	for _, kind := range []string{kindIRQThread, kindIRQOther} {
		w := work{kind, "", 1500}
		if longest := mostInstants * 1500 * tick; w.limit() < longest+margin {
			t.Errorf("%s: killed after %v, and may take %v", w, w.limit(), longest)
		}
	}
}
