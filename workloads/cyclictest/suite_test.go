package cyclictest

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

func TestWhatCannotBeMeasuredIsRefused(t *testing.T) {
	alone := bench.Job{Measured: []int{1}, Create: func(string) (io.WriteCloser, error) { return nil, nil }}
	beside, two, nowhere := alone, alone, alone
	beside.Begin, beside.End = make(chan struct{}), make(chan struct{})
	two.Measured = []int{1, 2}
	nowhere.Create = nil
	for name, c := range map[string]struct {
		set  func(r *runner)
		job  bench.Job
		want string
	}{
		"the defaults":               {func(*runner) {}, alone, ""},
		"beside another suite":       {func(*runner) {}, beside, ""},
		"two CPUs":                   {func(*runner) {}, two, ""},
		"both engines by both ways":  {func(r *runner) { r.crossCheck, r.engine = true, engineRTTests }, alone, "leave --engine away"},
		"a cross-check of two CPUs":  {func(r *runner) { r.crossCheck = true }, two, "name one with --cpus, not 1-2"},
		"without a histogram":        {func(r *runner) { r.crossCheck, r.histogram = true, 0 }, alone, "leave --histogram away"},
		"rt-tests beside another":    {func(r *runner) { r.engine = engineRTTests }, beside, "only the engine opcycle"},
		"a cross-check beside":       {func(r *runner) { r.crossCheck = true }, beside, "only the engine opcycle"},
		"shorter than ten intervals": {func(r *runner) { r.interval, r.duration = 100*time.Millisecond, 900*time.Millisecond }, alone, "use 1s or more"},
		"an interval of minutes":     {func(r *runner) { r.interval, r.duration = time.Minute, time.Hour }, alone, "use 1s or less"},
		"text without a folder":      {func(r *runner) { r.text = "x" }, nowhere, "need a folder"},
		"json without a folder":      {func(r *runner) { r.json = "x" }, nowhere, "need a folder"},
	} {
		r := newRunner()
		c.set(r)
		err := r.check(c.job)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Every option reads what it shows, and refuses with a way out what is no value of it.
func TestOptions(t *testing.T) {
	bad := map[string]string{"interval": "19us", "priority": "100", "duration": "60", "loops": "-1", "histogram": "10001", "engine": "c", "cross-check": "maybe", "pairs": "0", "slice": "1ms"}
	for _, o := range newRunner().Options() {
		before := o.Get()
		if err := o.Set(before); err != nil || o.Get() != before {
			t.Errorf("--%s %q: %v, then %q", o.Name, before, err, o.Get())
		}
		text, ok := bad[o.Name]
		if !ok {
			continue
		}
		if err := o.Set(text); err == nil || !strings.Contains(err.Error(), "; ") && !strings.Contains(err.Error(), "\n") {
			t.Errorf("--%s %s: %v", o.Name, text, err)
		}
		if len(o.Usage) < 10 {
			t.Errorf("--%s has no usage", o.Name)
		}
	}
}

func TestACheckpointOfAnotherPlanIsRefused(t *testing.T) {
	r := newRunner()
	good := func() state {
		return state{Version: stateVersion, Interval: r.interval, Width: 1, Threads: []tally{{CPU: 1}, {CPU: 3}}}
	}
	for name, c := range map[string]struct {
		change func(s *state)
		want   string
	}{
		"the same plan":    {func(*state) {}, ""},
		"another form":     {func(s *state) { s.Version = 1 }, "form 1"},
		"another CPU":      {func(s *state) { s.Threads[1].CPU = 2 }, "of CPUs 1-2, this run of 1,3"},
		"fewer CPUs":       {func(s *state) { s.Threads = s.Threads[:1] }, "of CPUs 1, this run of 1,3"},
		"another interval": {func(s *state) { s.Interval = time.Millisecond }, "an interval of 1ms"},
		"another length":   {func(s *state) { s.Width = 24 }, "blocks of 24 s"},
	} {
		s := good()
		c.change(&s)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var read state
		err = read.resume(data, r, []int{1, 3})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := new(state).resume([]byte("{"), r, nil); err == nil {
		t.Error("half a checkpoint was read")
	}
}

// However long a run is, what is kept of it stays small.
func TestACheckpointOfADayIsBounded(t *testing.T) {
	r := newRunner()
	r.duration = 48 * time.Hour
	p, _ := filled(latencies(5, 100_000), 400, 0, 1)
	one := tallyOf(1, p, 1_700_000_000e9, 345_600_000, int64(r.interval))
	for range widthOf(int(r.length()/time.Second)) * mostBlocks {
		one.Seconds = append(one.Seconds, p.latency)
	}
	one.Seconds = fold(one.Seconds, widthOf(int(r.length()/time.Second)))
	for i := range one.Micro {
		one.Micro[i] += 100_000_000
	}
	data, err := json.Marshal(state{Threads: []tally{one}})
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 1<<20 {
		t.Errorf("%d bytes a CPU, the package says 0.5 MB", len(data))
	}
	t.Logf("%d bytes a CPU; %d bytes of shared memory", len(data), sharedBytes(1, int(r.length()/time.Second)+2))
}
