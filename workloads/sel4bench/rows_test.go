package sel4bench

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

func here1(hypervisor string) bench.Job {
	return bench.Job{Measured: []int{1}, RT: bench.RTAuto, Host: bench.Host{Hypervisor: hypervisor}}
}

// tenThen is n samples v after ten that are to be left out.
func tenThen(v int64, n int) []int64 {
	return append(slices.Repeat([]int64{1e9}, ignored), slices.Repeat([]int64{v}, n)...)
}

func TestRowsOfASeries(t *testing.T) {
	many := tenThen(4000, 400)
	for name, c := range map[string]struct {
		w      work
		a      answer
		rt     bench.RTMode
		want   string // in NA, "" = a number
		failed bool
	}{
		"whole":                           {w: work{kindNotify, viaPipe, 410}, a: answer{Call: many, Done: 410}},
		"a sample ends before its start":  {w: work{kindNotify, viaPipe, 410}, a: answer{Call: slices.Concat(many, []int64{-60}), Done: 410, Overhead: 50}, want: "1 samples end before", failed: true},
		"ends as it starts":               {w: work{kindNotify, viaPipe, 410}, a: answer{Call: slices.Concat(many, []int64{-50}), Done: 410, Overhead: 50}, want: "1 samples end before", failed: true},
		"less than the overhead":          {w: work{kindNotify, viaPipe, 410}, a: answer{Call: slices.Concat(many, []int64{-49}), Done: 410, Overhead: 50}},
		"nobody preempted":                {w: work{kindNotify, viaPipe, 410}, a: answer{Call: many[:5], Done: 5}, want: "did not preempt at sample 5", failed: true},
		"nobody preempted, FIFO refused":  {w: work{kindNotify, viaPipe, 410}, a: answer{Call: many[:5], Done: 5, RTError: "no"}, want: "did not preempt at sample 5"},
		"nobody preempted, FIFO unwanted": {w: work{kindNotify, viaPipe, 410}, a: answer{Call: many[:5], Done: 5}, rt: bench.RTOff, want: "did not preempt at sample 5"},
		"stopped":                         {w: work{kindNotify, viaPipe, 410}, a: answer{Call: many[:200], Done: 200, Stopped: true}, want: "stopped at sample 200 of 410"},
		"a busy spinner's CPU":            {w: work{kindIRQThread, "", 110}, a: answer{Call: tenThen(60000, 30), Done: 40, Stale: 400}},
		"no spinner at all":               {w: work{kindIRQThread, "", 110}, a: answer{Done: 0, Stale: 440}, want: "440 instants were left out"},
	} {
		t.Run(name, func(t *testing.T) {
			job := here1("")
			if c.rt != "" {
				job.RT = c.rt
			}
			c.a.Unit, c.a.Hz = cyclesUnit, 2e9
			rows, failed := rows(job, c.w, c.a, nil)
			if r := rows[0]; (r.Value == nil) != (c.want != "") || !strings.Contains(r.NA, c.want) {
				t.Errorf("value %v, n/a %q", r.Value, r.NA)
			}
			if (failed != nil) != c.failed {
				t.Errorf("failed: %q", failed)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	a := answer{Call: tenThen(4000, 400), Reply: tenThen(5000, 400), Null: tenThen(200, 400), Done: 410, Stale: 7, Unit: cyclesUnit, Hz: 2e9, Policy: "both SCHED_FIFO 50"}
	for name, c := range map[string]struct {
		kind       string
		hypervisor string
		refused    string
		want, not  string
	}{
		"ipc":                 {kindIPC, "", "", "not seL4: 2 system calls", "not real-time"},
		"ipc without FIFO":    {kindIPC, "", "EPERM", "2 system calls; not real-time", "virtual"},
		"notify":              {kindNotify, "", "", "Linux analogue, not seL4", "system calls"},
		"irq":                 {kindIRQThread, "", "", "7 of 417 instants left out", "virtual"},
		"irq in a VM":         {kindIRQOther, "kvm", "", "virtualised timer", "not real-time"},
		"irq, ordinary sleep": {kindIRQOther, "kvm", "EPERM", "not real-time", "2 system calls"},
	} {
		t.Run(name, func(t *testing.T) {
			b := a
			b.RTError = c.refused
			out, _ := rows(here1(c.hypervisor), work{c.kind, viaFutex, 410}, b, nil)
			for _, r := range out {
				if !strings.Contains(r.Deviation, c.want) || strings.Contains(r.Deviation, c.not) || r.Placement != "same CPU 1" || r.Policy == "" || r.Unit != cyclesUnit {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

func TestTheOriginalsNumberOfSamples(t *testing.T) {
	var call []int64
	for i := range int64(ignored + 400) {
		call = append(call, i)
	}
	a := answer{Call: call, Reply: call, Done: len(call), Unit: cyclesUnit, Hz: 2e9}
	out, _ := rows(here1(""), work{kindIPC, viaFutex, len(call)}, a, nil)
	form := out[2]
	// the last of 16 rounds, 16 times: from 10 + 15 on, every 16th
	if form.Table != tableForm || form.N != 16 || *form.Min != 25 || *form.Max != 25+15*16 {
		t.Errorf("%+v", form)
	}
	out, _ = rows(here1(""), work{kindNotify, viaFutex, len(call)}, a, nil)
	if form := out[1]; form.Table != tableForm || form.N != 100 || *form.Min != 10 || *form.Max != 109 {
		t.Errorf("%+v", form)
	}
}

func TestFill(t *testing.T) {
	samples := []int64{300, 100, 200, 400}
	var r bench.Reading
	r.Unit = cyclesUnit
	fill(&r, samples, &answer{Unit: cyclesUnit, Hz: 2e9})
	if *r.Mean != 250 || *r.Value != *r.Mean || math.Abs(*r.StdDev-129.0994) > 1e-3 || *r.Min != 100 || *r.Max != 400 || *r.Median != 200 || *r.P99 != 400 || r.N != 4 {
		t.Errorf("%+v", r) // 129.0994 = sqrt(50000/3): of a sample, n-1, as the page has it
	}
	if !slices.Equal(samples, []int64{300, 100, 200, 400}) {
		t.Error("the samples were changed")
	}
	fill(&r, samples, &answer{Unit: "CNTVCT ticks", Hz: 1e8})
	if *r.Mean != 2500 || r.Unit != "ns" {
		t.Errorf("100 MHz: %v %s", *r.Mean, r.Unit)
	}
}

func TestUnstable(t *testing.T) {
	for name, c := range map[string]struct {
		samples []int64
		want    string
	}{
		"steady":           {tenThen(4000, 990)[ignored:], ""},
		"a tail":           {slices.Concat(slices.Repeat([]int64{4000}, 980), slices.Repeat([]int64{13000}, 20)), "99th percentile"},
		"one long sample":  {slices.Concat(slices.Repeat([]int64{4000}, 999), []int64{400_000}), "standard deviation"},
		"a tail within it": {slices.Concat(slices.Repeat([]int64{4000}, 980), slices.Repeat([]int64{5000}, 20)), ""},
	} {
		var r bench.Reading
		fill(&r, c.samples, &answer{Unit: cyclesUnit})
		if (r.Unstable == "") != (c.want == "") || !strings.Contains(r.Unstable, c.want) {
			t.Errorf("%s: unstable %q", name, r.Unstable)
		}
	}
}

func TestHeadlines(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	in := []bench.Reading{
		{Table: Name, Name: "irq_invoke", Mechanism: "timer, spinner in the other address space", Median: v(1)},
		{Table: Name, Name: "irq_invoke", Mechanism: "timer, spinner in the same address space", Median: v(9)},
		{Table: Name, Name: "notify", Mechanism: viaFutex, NA: "hung"},
		{Table: Name, Name: "notify", Mechanism: viaEventfd, Median: v(3000)},
		{Table: tableForm, Name: "notify", Mechanism: viaEventfd, Median: v(10)},
		{Table: Name, Name: "notify", Mechanism: viaPipe, Median: v(2000)},
		{Table: Name, Name: "ipc_call", Mechanism: viaFutex, NA: "hung"},
	}
	var got []int
	for i, r := range headlines(in) {
		if r.Headline {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, []int{1, 5, 6}) { // the page's spinner; least median; n/a stands if there is no other
		t.Errorf("headlines %v", got)
	}
}

func TestIsStale(t *testing.T) {
	const hz, at, late = 2e9, 1_000_000, 20_000 // due at 960,000
	for name, c := range map[string]struct {
		age  time.Duration // of the stamp, before the due instant
		want bool
	}{
		"ran when it was due":          {0, false},
		"ran after":                    {-15 * time.Microsecond, false},
		"a hypervisor's early exit":    {5 * time.Microsecond, false},
		"another thread for a tick":    {76 * time.Microsecond, true},
		"another thread for ten ticks": {40 * time.Millisecond, true},
	} {
		stamp := int64(960_000 - c.age.Seconds()*hz)
		if got := isStale(stamp, at, late, hz); got != c.want {
			t.Errorf("%s: stale %v", name, got)
		}
	}
}

func TestSleeping(t *testing.T) {
	for name, c := range map[string]struct {
		stat string
		want bool
	}{
		"waits":                     {"71 (opcycle) S 1 71 71 0", true},
		"runs":                      {"71 (opcycle) R 1 71 71 0", false},
		"waits for a disk":          {"71 (opcycle) D 1 71 71 0", false},
		"its name looks like it":    {"71 (x) S 1 (y) R 1 71 71 0", false},
		"a name with a parenthesis": {"71 (a) b) S 1 71", true},
		"has ended":                 {"71 (opcycle) Z 1 71 71 0", false},
		"cut off":                   {"71 (opcycle)", false},
		"nothing":                   {"", false},
	} {
		if got := sleeping([]byte(c.stat)); got != c.want {
			t.Errorf("%s: sleeping %v", name, got)
		}
	}
}
