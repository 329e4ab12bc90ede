package main

import (
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/judge"
	"opcycle/run"
	"opcycle/workloads"
)

// The shipped campaigns are the vendor's four phases, and one is the other in short.
func TestShippedCampaigns(t *testing.T) {
	var shapes [][]string
	for _, name := range configs.Campaigns() {
		data, err := configs.Campaign(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := run.DecodeCampaign(name+".yaml", data, workloads.All())
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != name {
			t.Errorf("%s calls itself %s", name, c.Name)
		}
		var shape []string
		for _, p := range c.Phases {
			words := []string{p.Suite.Name, p.Label}
			for _, s := range bench.Settings(p.Table()) {
				switch s.Name {
				case "samples", "duration", "csv":
				default:
					words = append(words, s.Name+"="+s.Value)
				}
				if name == "48-hour" {
					vendors(t, p.Suite.Name, s)
				}
			}
			shape = append(shape, strings.Join(words, " "))
		}
		if name == "48-hour" && (!slices.Equal(c.Cores.Measured, []int{3}) || !slices.Equal(c.Cores.Noise, []int{0})) {
			t.Errorf("cores %+v", c.Cores)
		}
		shapes = append(shapes, shape)
	}
	if diff := cmp.Diff(shapes[0], shapes[1]); diff != "" {
		t.Errorf("the smoke has another shape: %s", diff)
	}
	if n := len(shapes[0]); n != 4 {
		t.Errorf("%d phases", n)
	}
}

// vendors holds an option against the vendor's page.
func vendors(t *testing.T, suite string, s bench.Setting) {
	t.Helper()
	want := map[string]string{"caterpillar samples": "7200", "cyclictest duration": "24h0m0s", "cyclictest interval": "250µs", "cyclictest priority": "99", "caterpillar priority": "99"}
	if v, ok := want[suite+" "+s.Name]; ok && v != s.Value {
		t.Errorf("%s: %s is %s, the vendor's %s", suite, s.Name, s.Value, v)
	}
}

func TestCampaignWithoutANameListsThem(t *testing.T) {
	code, stdout, stderr := called("campaign")
	if code != exitPass || !strings.Contains(stdout, "48-hour ") || !strings.Contains(stdout, "48-hour-smoke ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// By name and by path it is the same plan, and the plan printed is a campaign.
func TestCampaignDryRun(t *testing.T) {
	code, byName, stderr := called("campaign", "48-hour-smoke", "--dry-run")
	if code != exitPass {
		t.Fatal(stderr)
	}
	if _, byPath, _ := called("campaign", "configs/48-hour-smoke.yaml", "--dry-run"); byPath != byName {
		t.Error(cmp.Diff(byName, byPath))
	}
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(byName), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, again, stderr := called("campaign", path, "--dry-run"); again != byName {
		t.Error(stderr, cmp.Diff(byName, again))
	}
}

func TestCampaignRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"48-our"}, `no campaign is called "48-our"; nearest: 48-hour`},
		{[]string{"quick"}, `quick is a profile, not a campaign of suites; "opcycle run quick" runs it`},
		{[]string{filepath.Join(dir, "none.yaml")}, "read the campaign: open"},
		{[]string{"--resume", dir}, "no campaign to resume in"},
		{[]string{"48-hour-smoke", "--resume", dir, "--out", dir}, "if any flags in the group [out resume] are set none of the others can be"},
	} {
		code, _, stderr := called(append([]string{"campaign"}, tt.args...)...)
		if code != exitNotMeasured || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: exit %d: %s", tt.args, code, stderr)
		}
	}
	if code, _, stderr := called("run", "48-hour"); code != exitNotMeasured || !strings.Contains(stderr, `"opcycle campaign 48-hour" runs it`) {
		t.Errorf("run 48-hour: %s", stderr)
	}
}

const short = `checkpoint: 200ms
phases:
- {suite: caterpillar, label: a, samples: 8, steps: 200, buffer: 64K}
- {suite: cyclictest, label: b, interval: 1ms, duration: 4s}
`

// begun starts a campaign and returns its process and folder.
func begun(t *testing.T, text string) (c *command, dir, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "out")
	return start(t, "", "campaign", file, "--out", dir), dir, file
}

// Each signal ends a campaign cleanly with a report of what there is and a way to go on; a
// file that was changed meanwhile is refused; the whole is measured in the end.
func TestASignalEndsACampaignCleanly(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 8 s")
	}
	alone(t)
	c, dir, file := begun(t, short)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		c.says("2/2 cyclictest, b: ")
		time.Sleep(500 * time.Millisecond) // into the phase
		c.signal(s)
		if code := c.code(); code != exitNotMeasured {
			t.Fatalf("%v: exit %d", s, code)
		}
		c.says("go on with: opcycle campaign --resume " + dir)
		if !strings.HasPrefix(c.stdout.String(), "inconclusive: ended before its plan's end") || exists(dir) {
			t.Errorf("%v: %q, a result: %v", s, verdictLine(c.stdout.String()), exists(dir))
		}
		if err := os.WriteFile(file, []byte(short+"# changed\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if again := start(t, "", "campaign", "--resume", dir); again.code() != exitNotMeasured || !strings.Contains(again.stderr.String(), "was changed after the campaign in") {
			t.Errorf("a changed file: %s", again.stderr.String())
		}
		if err := os.WriteFile(file, []byte(short), 0o644); err != nil {
			t.Fatal(err)
		}
		c = start(t, "", "campaign", "--resume", dir)
	}
	finished(t, c, dir, 3)
}

// finished waits for the end of a campaign of short and holds its result against the plan.
func finished(t *testing.T, c *command, dir string, resumed int) {
	t.Helper()
	if code := c.code(); code != exitPass {
		t.Fatalf("exit %d", code)
	}
	f := result(t, dir)
	if f.Suite != "campaign" || !f.Complete || len(f.Suites) != 2 {
		t.Fatalf("%s, complete %v, %d suites", f.Suite, f.Complete, len(f.Suites))
	}
	rows := 0
	if f.Suites[0].Samples != nil {
		rows = len(f.Suites[0].Samples.Rows)
	}
	if rows != 8 {
		t.Errorf("caterpillar: %d samples of 8", rows)
	}
	count := func(series, statistic string) int64 {
		for _, g := range f.Suites[1].Figures {
			if g.Series == series && g.Statistic == statistic && g.Value != nil {
				return int64(*g.Value)
			}
		}
		t.Errorf("cyclictest has no %s.%s", series, statistic)
		return 0
	}
	if n := count("wake_ups", "cycles") + count("wake_ups", "missed"); n != 4000 {
		t.Errorf("cyclictest: %d wake-ups and missed instants of 4000", n)
	}
	got := 0
	for _, r := range f.Suites {
		if got += r.Resumed; r.Resumed != len(r.Pauses) || len(r.Invalid) > 0 {
			t.Errorf("%s: resumed %d times, %d pauses, invalid %q", judge.Title(&r), r.Resumed, len(r.Pauses), r.Invalid)
		}
	}
	if got < resumed {
		t.Errorf("resumed %d times, at least %d were to be seen", got, resumed)
	}
	for _, want := range []string{"Campaign c\n", "1/2    caterpillar, a", "2/2    cyclictest, b"} {
		if !strings.Contains(c.stdout.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if code, _, stderr := called("verify", filepath.Join(dir, run.ResultName)); code != exitPass {
		t.Error(stderr)
	}
	for _, p := range processes(t) {
		t.Errorf("left behind: process %d %q", p.id, p.args)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); err == nil {
		t.Error("the state is left behind")
	}
}

// The real suites, killed at random moments with all they started, end with every sample
// measured once.
func TestACampaignOfRealSuitesSurvivesBeingKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 15 s")
	}
	alone(t)
	c, dir, _ := begun(t, short)
	random := rand.New(rand.NewSource(2))
	for range 6 {
		c.says("everything is kept in")
		time.Sleep(time.Duration(400+random.Intn(900)) * time.Millisecond)
		c.signal(syscall.SIGKILL)
		<-c.ended
		gone(t)
		if exists(dir) {
			t.Fatal("it ended before it was killed often enough")
		}
		c = start(t, "", "campaign", "--resume", dir)
	}
	finished(t, c, dir, 1)
}

// gone waits until no process of the binary is left: none outlives its conductor.
func gone(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); len(processes(t)) > 0; {
		if time.Now().After(end) {
			var ids []string
			for _, p := range processes(t) {
				ids = append(ids, strconv.Itoa(p.id))
			}
			t.Fatalf("left behind: %s", strings.Join(ids, ", "))
		}
	}
}
