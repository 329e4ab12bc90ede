package report

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

const (
	testT     = int64(10 * time.Millisecond)
	testFirst = int64(500)
)

// scenario is what one fixture run went through.
type scenario struct {
	host    bench.PLCHost
	n, ran  int64
	skipped map[int64]bool  // index into the phase
	late    map[int64]int64 // index -> execution time of that release, ns
	huge    int64           // index whose write round trip is beyond the histogram; 0 none
	empty   bool
	beside  bool // with the vendor's three switches on
}

// recorded are the series of a fixture while they are being filled.
type recorded struct {
	t      *testing.T
	n      int64
	series map[string]*record.Series
	blocks map[string]*record.Blocks
}

func (r *recorded) add(name string, k, v int64) {
	if r.series[name] == nil {
		r.series[name], r.blocks[name] = record.NewSeries(), record.NewBlocks(testFirst, r.n, testT)
	}
	r.series[name].Add(k, v)
	r.blocks[name].Add(k, v)
}

func (r *recorded) summarize(object string, names ...string) []bench.Series {
	r.t.Helper()
	var out []bench.Series
	for _, n := range names {
		s, b := r.series[n], r.blocks[n]
		if s == nil {
			s = record.NewSeries()
		}
		sum, err := bench.Summarize("opcua", object, n, s, b, testFirst, testT)
		if err != nil {
			r.t.Fatal(err)
		}
		if sum.Count == 0 && n == "loop_time" {
			sum.NA = "no echo was seen"
		}
		out = append(out, sum)
	}
	return out
}

func taskSeries() []string {
	return []string{"calculation_time", "execution_time", "execution_time_jitter", "task_time", "response_time", "dead_time", "start_latency"}
}

func itemSeries() []string {
	return []string{"client_transmit_time", "client_encode_time", "client_write_time", "server_transmit_jitter", "arrival_offset",
		"server_transmit_time", "network_time", "client_receive_time", "loop_time", "write_round_trip", "inter_arrival_deviation"}
}

// testFile is a result as the conductor fills it, from real series of simulated cycles.
func testFile(t *testing.T, sc scenario) bench.File {
	t.Helper()
	r := &recorded{t: t, n: sc.n, series: map[string]*record.Series{}, blocks: map[string]*record.Blocks{}}
	if !sc.empty {
		simulate(r, sc)
	}
	f := frame(sc)
	f.Series = append(r.summarize("task", taskSeries()...), r.summarize("item", itemSeries()...)...)
	f.Series = append(f.Series, r.summarize("floor", "floor_transmit", "floor_wake_up")...)
	f.Figures = figures(sc, &f)
	f.Abnormal = releases(sc)
	return f
}

// simulate fills every series of the phase, cycle by cycle.
func simulate(r *recorded, sc scenario) {
	rng := rand.New(rand.NewPCG(1, 2))
	previous := int64(-1)
	for i := range sc.ran {
		k := testFirst + i
		if sc.skipped[i] {
			previous = -1
			r.add("response_time", k, testT+4_000_000)
			continue
		}
		start, calc := 5_000+rng.Int64N(20_000), 3_290_000+rng.Int64N(30_000)
		tail := 60_000 + rng.Int64N(20_000)
		e := start + 1_000 + calc + tail
		if v, ok := sc.late[i]; ok {
			calc += v - e
			e = v
		}
		r.add("start_latency", k, start)
		r.add("calculation_time", k, calc)
		r.add("execution_time", k, e)
		r.add("response_time", k, e)
		r.add("task_time", k, e-start)
		r.add("dead_time", k, testT-e)
		if previous >= 0 {
			r.add("execution_time_jitter", k, max(e-previous, previous-e))
		}
		previous = e
		encode, write := 20_000+rng.Int64N(9_000), 30_000+rng.Int64N(12_000)
		r.add("client_encode_time", k, encode)
		r.add("client_write_time", k, write)
		r.add("client_transmit_time", k, encode+write)
		network, hand := 15_000+rng.Int64N(9_000), 90_000+rng.Int64N(40_000)
		r.add("network_time", k, network)
		r.add("client_receive_time", k, hand)
		r.add("server_transmit_time", k, network+hand)
		r.add("arrival_offset", k, e+network+hand)
		r.add("server_transmit_jitter", k, e+network+hand-3_500_000)
		r.add("inter_arrival_deviation", k, rng.Int64N(80_000)-40_000)
		round := 150_000 + rng.Int64N(90_000)
		if sc.huge == i && i > 0 {
			round = int64(700e9)
		}
		r.add("write_round_trip", k, round)
	}
	for i := range int64(600) {
		r.add("floor_transmit", testFirst+i, 60_000+rng.Int64N(30_000))
		r.add("floor_wake_up", testFirst+i, 50_000+rng.Int64N(9_000))
	}
}

// frame is everything of a result but its figures and series.
func frame(sc scenario) bench.File {
	plan := bench.Plan{Name: "single-node", Duration: time.Duration(sc.n * testT), Cycles: sc.n, Floor: 300, RT: bench.RTAuto,
		Out: "results/20261130T221500Z", Budgets: bench.DefaultBudgets(),
		Task: bench.Task{Host: sc.host, Interval: time.Duration(testT), Workload: "FLOAT", Iterations: 10001,
			Publish: bench.PublishEnd, Deadline: time.Duration(testT), Spin: 300 * time.Microsecond, Priority: 80},
		OPCUA: bench.OPCUA{PublishingInterval: time.Duration(testT), Items: 1, QueueSize: 10, PublishRequests: 3}}
	found := []bench.Finding{
		{Key: "preempt_rt", Title: "kernel without PREEMPT_RT", Seen: "PREEMPT_DYNAMIC (voluntary) (/proc/sys/kernel/version)", Severity: bench.SeverityWarning,
			Cost: "the worst wake-up under load is some ms instead of tens of µs", Remedy: "apt install linux-image-rt-amd64, then reboot into it", Source: "https://docs.kernel.org/core-api/real-time/theory.html"},
		{Key: "nohz_full", Title: "the timer tick runs on measured CPUs 0-1", Seen: "nohz_full none", Severity: bench.SeverityNote},
		{Key: "swap", Title: "no swap", Seen: "/proc/swaps lists none", Severity: bench.SeverityFit},
	}
	plan.Notes = []string{"Two CPUs: the conductor shares CPU 0 with the server, which costs it some latency when a report is written."}
	thread := func(role string, priority, cpu int) bench.ThreadInfo {
		return bench.ThreadInfo{Role: role, Policy: "SCHED_FIFO", Priority: priority, CPUs: []int{cpu}}
	}
	return bench.File{Schema: bench.Schema, Tool: bench.Tool{Name: "opcycle", Version: "v0.1.0", Go: "go1.26"}, Suite: "opcua",
		Started: time.Date(2026, 11, 30, 22, 15, 0, 0, time.UTC), Complete: sc.ran == sc.n, Plan: plan, Findings: found,
		Host: bench.Host{OS: "Debian GNU/Linux 13", Kernel: "6.12.0", Preempt: "PREEMPT_DYNAMIC (voluntary)", ClockSource: "tsc",
			CPUModel: "Example CPU @ 3.00GHz", CPUs: []bench.CPU{{ID: 0}, {ID: 1}}, Hypervisor: "kvm"},
		Processes: []bench.ProcessInfo{
			{Name: "server", MaxProcs: 1, Locked: true, CState: "held at 0 µs", GOGC: "off",
				Threads: []bench.ThreadInfo{thread("plc", 80, 0), thread("runtime", 45, 0), thread("runtime", 45, 0)}},
			{Name: "client", MaxProcs: 1, LockError: "mlockall: RLIMIT_MEMLOCK is 64 KiB; run with --ulimit memlock=-1", CState: "held at 0 µs", GOGC: "off",
				Threads: []bench.ThreadInfo{thread("runtime", 48, 1), thread("runtime", 48, 1)}}},
		Phase:    bench.Phase{Grid: bench.Grid{Period: testT}, First: testFirst, N: sc.n, Ran: sc.ran, Clock: "common"},
		Attained: bench.Attained{PublishingInterval: 10, QueueSize: 10, Iterations: 10001}}
}

// disturb puts a stressor, a suite without a table of its own and the tracer beside f.
func disturb(f *bench.File) {
	f.Plan.Beside = []bench.Beside{{Suite: bench.SuiteStress, Role: bench.RoleNoise}, {Suite: "mystery", Role: bench.RoleBeside}}
	f.Plan.Trace = &bench.Trace{StopAbove: 200 * time.Microsecond}
	fig := func(suite, object, series, statistic, unit string, v float64) bench.Figure {
		return bench.Figure{Suite: suite, Object: object, Series: series, Statistic: statistic, Unit: unit, Value: &v}
	}
	f.Suites = []bench.SuiteResult{
		{Suite: bench.SuiteStress, Role: bench.RoleNoise, Complete: true,
			Figures: []bench.Figure{fig("stress", "cpu", "bogo_ops", "count", "1", 9452), fig("stress", "cpu", "bogo_ops", "rate", "1/s", 472.280645),
				{Suite: "stress", Object: "cpu", Series: "time", Statistic: "user", Unit: "ns", NA: "stress-ng did not say"},
				{Suite: "stress", Object: "all", Series: "cpus", Statistic: "seen", Unit: "text", Text: "0"}},
			Noise:    []string{"stress-ng --cpu 2 on CPUs 0: 3 processes, 14.5 s of processor time in 60.0 s, seen on CPUs 0; cpu 472.3 bogo ops/s"},
			Warnings: []string{"the stressor was seen on CPU 3, outside the CPUs 0 that it was given"}},
		{Suite: "mystery", Role: bench.RoleBeside, Invalid: []string{"the probe hung"}},
		{Suite: "trace", Role: bench.RoleBeside, Complete: true, Files: []string{"trace.txt"},
			Absent:  []bench.Absent{{What: "the event irq_vectors/local_timer_entry", Why: "this kernel does not have it, or not for instances"}},
			Figures: []bench.Figure{fig("trace", "tracer", "events", "kept", "1", 104660), fig("trace", "tracer", "marks", "cost", "ns", 312)},
			Summary: []string{"release 1001 began 381.1 us after it was due and stopped the tracer; in the 1.000 ms before, on CPU 0:", "khugepaged-38 for 945.0 us"}}}
	f.Plan.Notes = append(f.Plan.Notes, "the suite mystery runs beside and is noise to this run")
	f.Warnings = append(f.Warnings, "mystery beside this run: the probe hung")
}

// figures are the scalars that belong to sc.
func figures(sc scenario, f *bench.File) []bench.Figure {
	var out []bench.Figure
	add := func(object, series, statistic, unit string, v float64) {
		out = append(out, bench.Figure{Suite: "opcua", Object: object, Series: series, Statistic: statistic, Value: &v, Unit: unit})
	}
	na := func(object, series, statistic, unit, why string) {
		out = append(out, bench.Figure{Suite: "opcua", Object: object, Series: series, Statistic: statistic, Unit: unit, NA: why})
	}
	ran := float64(sc.ran)
	if sc.empty {
		ran = 0
	}
	skipped, late := float64(len(sc.skipped)), float64(len(sc.late))
	add("", "run", "duration", "ns", ran*float64(testT))
	add("", "run", "cycles", "1", ran)
	add("", "run", "control_cycle_period", "ns", float64(testT))
	for _, c := range []struct {
		name string
		v    float64
	}{{"expected", ran}, {"on_time", ran - skipped - late}, {"late", late}, {"late_run_max", min(late, 1)}, {"missed", skipped},
		{"total", ran - skipped}, {"duplicate", 0}, {"reordered", 0}, {"partial", 0}, {"messages", ran - skipped},
		{"keep_alives", 0}, {"values", ran - skipped}} {
		add("item", "packets", c.name, "1", c.v)
	}
	for _, c := range bench.MissedCauses() {
		add("item", "missed", string(c), "1", skipped*b2f(c == bench.SkippedRelease))
	}
	for _, c := range bench.LateCauses() {
		add("item", "late", string(c), "1", late*b2f(c == bench.LateTask))
	}
	add("", "ratio", "server_transmit_to_floor", "ratio", 1.64)
	na("", "ratio", "start_latency_to_clock_nanosleep", "ratio", "the machine changed")
	lost := 1e6 * (skipped + late)
	add("task", "thieves", "run_queue", "ns", 12.25*lost)
	na("task", "thieves", "fault", "ns", "the kernel keeps no time of page faults")
	add("task", "thieves", "gc", "ns", 0)
	add("task", "thieves", "throttle", "ns", 0)
	add("task", "thieves", "rest", "ns", 2.5*lost)
	for _, p := range f.Processes {
		add(p.Name, "gc_pause", "count", "1", 0)
		add(p.Name, "allocations", "count", "1", 61_234)
		add(p.Name, "allocations", "per_packet", "1", 10.2057)
		add(p.Name, "context_switches", "count", "1", 12_010)
		na(p.Name, "page_faults", "count", "1", "getrusage failed")
	}
	add("task", "migrations", "count", "1", 0)
	add("item", "packets", "unstamped", "1", 2)
	add("client", "writes", "sent", "1", ran)
	return out
}

// releases are the abnormal cycles of sc, ascending.
func releases(sc scenario) []bench.Release {
	var out []bench.Release
	for i := range sc.ran {
		r := bench.Release{K: testFirst + i, Second: float64(i*testT) / 1e9}
		queue := int64(12_250_000)
		r.Thieves = bench.Thieves{RunQueue: &queue, Rest: 2_500_000}
		if v, ok := sc.late[i]; ok {
			wake, done := i*testT+20_000, i*testT+v
			r.Executed, r.Wake, r.Done, r.Outcome, r.Cause = true, &wake, &done, bench.Late, bench.LateTask
			out = append(out, r)
		} else if sc.skipped[i] {
			r.Outcome, r.Cause = bench.Missed, bench.SkippedRelease
			out = append(out, r)
		}
	}
	return out
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// scenarios are the runs of every golden.
func scenarios() map[string]scenario {
	bad := func(list ...int64) map[int64]bool {
		out := map[int64]bool{}
		for _, i := range list {
			out[i] = true
		}
		return out
	}
	return map[string]scenario{
		"clean":      {host: bench.HostServer, n: 6000, ran: 6000},
		"client":     {host: bench.HostClient, n: 6000, ran: 6000},
		"eventful":   {host: bench.HostServer, n: 6000, ran: 6000, skipped: bad(1001, 1002, 4000)},
		"overrun":    {host: bench.HostServer, n: 6000, ran: 6000, late: map[int64]int64{200: 12_345_500}},
		"overflow":   {host: bench.HostServer, n: 6000, ran: 6000, huge: 77},
		"incomplete": {host: bench.HostServer, n: 6000, ran: 1234},
		"invalid":    {host: bench.HostServer, n: 6000, ran: 6000, skipped: bad(7)},
		"empty":      {host: bench.HostServer, n: 6000, ran: 0, empty: true},
		"beside":     {host: bench.HostServer, n: 6000, ran: 6000, beside: true},
	}
}

// made holds each scenario's result as JSON: its series take a while to fill.
var made sync.Map

// scenarioFile is a fresh copy of a scenario's result.
func scenarioFile(t *testing.T, name string) bench.File {
	t.Helper()
	data, ok := made.Load(name)
	if !ok {
		f := testFile(t, scenarios()[name])
		if name == "invalid" {
			f.Invalid = []string{"the record ring of the server overran by 12 records"}
			f.Warnings = []string{"steal 1.7 % on CPU 0"}
		}
		if scenarios()[name].beside {
			disturb(&f)
		}
		data = encoded(t, f)
		made.Store(name, data)
	}
	var f bench.File
	if err := json.Unmarshal(data.([]byte), &f); err != nil {
		t.Fatal(err)
	}
	return f
}
