package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/run"
)

// checked runs check on this machine and decodes its JSON.
func checked(t *testing.T, code int, args ...string) bench.Checked {
	t.Helper()
	c := start(t, "", append([]string{"check", "--format", "json"}, args...)...)
	got := c.code()
	var out bench.Checked
	if err := json.Unmarshal([]byte(c.stdout.String()), &out); err != nil {
		t.Fatal(err)
	}
	want := map[bench.Fitness]int{bench.FitnessFit: exitPass, bench.FitnessUnfit: exitFailed, bench.FitnessUnknown: exitNotMeasured}[out.Fitness]
	if got != want || code >= 0 && got != code {
		t.Errorf("exit %d with %q, want %d", got, out.Fitness, want)
	}
	return out
}

// On this machine: everything is tried, the exit code is that of the findings, text says
// the same as JSON, and the verdict is one line at the end.
func TestCheckOfThisMachine(t *testing.T) {
	alone(t)
	out := checked(t, -1)
	calls := map[string]bool{}
	for _, a := range out.Attempts {
		calls[a.Call] = true
	}
	for _, want := range []string{bench.CallAffinity, bench.CallFIFO, bench.CallRTTime, bench.CallMemfd, bench.CallMlockall, bench.CallLatency} {
		if !calls[want] {
			t.Errorf("%s was not tried: %+v", want, out.Attempts)
		}
	}
	if calls[bench.CallTracefs] || calls[bench.CallResctrl] || calls[bench.CallPerf] {
		t.Errorf("tried what nobody asks for: %+v", out.Attempts)
	}
	text := start(t, "", "check")
	text.code()
	said := text.stdout.String()
	flat := strings.Join(strings.Fields(said), " ")
	for _, f := range out.Findings {
		if f.Key == "foreign_threads" || f.Key == "interrupts" { // these come and go
			continue
		}
		if !strings.Contains(flat, strings.Join(strings.Fields(f.Title), " ")) {
			t.Errorf("not in the text: %q", f.Title)
		}
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, string(out.Fitness)+" for ") {
		t.Errorf("the last line is %q", last)
	}
}

// A plan that can't be placed is unfit, with the reason and everything else beside it.
func TestCheckOfAPlanThatCannotBePlaced(t *testing.T) {
	out := checked(t, exitFailed, "--server-cpus", "4095")
	found := false
	for _, f := range out.Findings {
		found = found || f.Key == "plan" && strings.Contains(f.Seen, "4095") && f.Severity == bench.SeverityUnfit
	}
	if !found || len(out.Findings) < 15 {
		t.Errorf("%+v", out.Findings)
	}
}

// A root that carries what was tried there is judged by that, on any machine.
func TestCheckOfAnotherMachine(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/sys/kernel/osrelease":     "6.1.0",
		"proc/self/status":              "Tgid:\t7\nCapEff:\t0000000000800000\nCpus_allowed_list:\t0-1",
		"proc/self/uid_map":             "0 0 4294967295",
		"proc/self/cgroup":              "0::/user.slice",
		"boot/config-6.1.0":             "CONFIG_RT_GROUP_SCHED=y",
		"sys/devices/system/cpu/online": "0-1",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
		"sys/fs/cgroup/user.slice/cgroup.type":                            "domain",
		"opcycle/attempts.json":                                           `[{"call":"sched_setscheduler","what":"sched_setattr(SCHED_FIFO 80)","value":80,"errno":"EPERM"}]`,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for rt, code := range map[string]int{"auto": exitPass, "require": exitFailed} {
		out := checked(t, code, "--root", root, "--rt", rt)
		said := false
		for _, f := range out.Findings {
			said = said || f.Key == "try_sched_setscheduler" && strings.Contains(f.Title, "cgroup v2 has no file")
		}
		if !said {
			t.Errorf("--rt %s: the cause of EPERM is not said: %+v", rt, out.Findings)
		}
	}
	if err := os.Remove(filepath.Join(root, "opcycle/attempts.json")); err != nil {
		t.Fatal(err)
	}
	checked(t, exitNotMeasured, "--root", root)
}

// A capture of this machine, read again, gives the same findings, attempts and exit code,
// and does not name the machine.
func TestCheckCaptureReplays(t *testing.T) {
	alone(t)
	file := filepath.Join(t.TempDir(), "plc7.tar")
	live := checked(t, -1, "--capture", file)
	again := checked(t, -1, "--root", file)
	name := regexp.MustCompile(`\b` + regexp.QuoteMeta(live.Host.Name) + `\b`)
	flat := func(c bench.Checked) string {
		c.Root, c.Host.BootID, c.Host.Name = "", "", ""
		b, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return name.ReplaceAllString(string(b), "host")
	}
	if len(again.Attempts) < 6 || len(again.Findings) < 15 {
		t.Errorf("only %d attempts, %d findings", len(again.Attempts), len(again.Findings))
	}
	if diff := cmp.Diff(flat(live), flat(again)); diff != "" {
		t.Error(diff)
	}
	if again.Host.Name != "host" {
		t.Errorf("host %q", again.Host.Name)
	}
	copied := filepath.Join(t.TempDir(), "copy.tar")
	if third := checked(t, -1, "--root", file, "--capture", copied); flat(third) != flat(again) {
		t.Error("a capture of a capture differs")
	}
	if fourth := checked(t, -1, "--root", copied); flat(fourth) != flat(again) {
		t.Error("what is read of the copy differs")
	}
}

func TestCheckRefusesACaptureItCannotWriteOrRead(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "none", "plc7.tar")
	c := start(t, "", "check", "--capture", file)
	if code := c.code(); code != exitNotMeasured || !strings.Contains(c.stderr.String(), "--capture: write "+file) {
		t.Errorf("exit %d: %s", code, c.stderr.String())
	}
	cut := filepath.Join(dir, "cut.tar")
	if err := os.WriteFile(cut, []byte("no tar"), 0o644); err != nil {
		t.Fatal(err)
	}
	c = start(t, "", "check", "--root", cut)
	if code := c.code(); code != exitNotMeasured || !strings.Contains(c.stderr.String(), "read the capture "+cut) {
		t.Errorf("exit %d: %s", code, c.stderr.String())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}

// A result whose capture can't be kept is whole, with a warning that says why.
func TestAResultWithoutItsCapture(t *testing.T) {
	folder, err := run.Create(filepath.Join(t.TempDir(), "out"), 0)
	if err != nil {
		t.Fatal(err)
	}
	machine := lookAround(t.Context(), bench.Need{})
	if err := os.Remove(folder.Dir); err != nil {
		t.Fatal(err)
	}
	file := bench.File{Warnings: []string{"one"}}
	machine.into(&file, folder)
	if len(file.Warnings) != 2 || !strings.Contains(file.Warnings[1], "the capture of the machine was not kept: open "+host.CaptureName) {
		t.Errorf("%q", file.Warnings)
	}
	if len(file.Findings) < 15 {
		t.Errorf("%d findings", len(file.Findings))
	}
}

// Without privilege every refusal is explained by what is lacking, and only what is
// required makes the plan unfit.
func TestCheckWithoutPrivilege(t *testing.T) {
	needs(t, os.Getuid() == 0, "root, to give it up")
	alone(t)
	if err := os.Chmod(filepath.Dir(executable(t)), 0o755); err != nil {
		t.Fatal(err)
	}
	for rt, code := range map[string]int{"auto": exitPass, "require": exitFailed} {
		c := startAs(t, 65534, "check", "--rt", rt)
		if got := c.code(); got != code {
			t.Errorf("--rt %s: exit %d, want %d", rt, got, code)
		}
		contains(t, strings.Join(strings.Fields(c.stdout.String()), " "), "SCHED_FIFO refused (EPERM): no CAP_SYS_NICE, and RLIMIT_RTPRIO is", "locked memory refused", "idle states not held (EACCES)")
	}
}

// In a control group without a budget of real time root itself gets EPERM, and check says
// why (public case 21, here with the files of cgroup v1).
func TestCheckNamesTheControlGroupsBudget(t *testing.T) {
	const group = "/sys/fs/cgroup/cpu/opcycle-test-check"
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("needs cgroup v1: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	if runtime, err := os.ReadFile(group + "/cpu.rt_runtime_us"); err != nil || strings.TrimSpace(string(runtime)) != "0" {
		t.Skipf("needs a kernel with CONFIG_RT_GROUP_SCHED: %q, %v", runtime, err)
	}
	alone(t)
	c := startBinary(t, "", "/bin/sh", "-c", `echo $$ > "$0/cgroup.procs"; exec "$1" check --rt require`, group, executable(t))
	if code := c.code(); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	contains(t, strings.Join(strings.Fields(c.stdout.String()), " "), "SCHED_FIFO refused (EPERM): RT_GROUP_SCHED: the control group /opcycle-test-check has no budget",
		"mend: echo 950000 > "+group+"/cpu.rt_runtime_us")
}
