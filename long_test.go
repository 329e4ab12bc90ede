package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// longFolder names the folder in which TestWriteALongResult, in a process of its own, makes a
// long result of the short one there. A process begins with the peak memory of the one that
// started it, so the one that measures the reports must stay small.
const longFolder = "OPCYCLE_TEST_LONG_RESULT"

// TestWriteALongResult writes the result of a 48-hour run of 10 ms cycles as large as one gets:
// every series of a run here with a full histogram and all its blocks, and as many abnormal
// cycles as a result holds.
func TestWriteALongResult(t *testing.T) {
	const cycles, period = 48 * 3600 * 100, int64(10 * time.Millisecond)
	dir := os.Getenv(longFolder)
	if dir == "" {
		return // TestReportOf48Hours calls
	}
	f := result(t, filepath.Join(dir, "short"))
	f.Plan.Duration, f.Plan.Cycles, f.Phase.N, f.Phase.Ran, f.Cycles = 48*time.Hour, cycles, cycles, cycles, ""
	r := rand.New(rand.NewPCG(1, 2))
	for i := range f.Series {
		s, b := record.NewSeries(), record.NewBlocks(f.Phase.First, cycles, period)
		for k := int64(0); k < cycles; k += 997 { // several in each block
			v := int64(1000 * (1 + r.ExpFloat64()*float64(100+i)))
			s.Add(f.Phase.First+k, v)
			b.Add(f.Phase.First+k, v)
		}
		sum, err := bench.Summarize(f.Series[i].Suite, f.Series[i].Object, f.Series[i].Name, s, b, f.Phase.First, period)
		if err != nil {
			t.Fatal(err)
		}
		f.Series[i] = sum
	}
	ns := func(v int64) *int64 { return &v }
	f.Abnormal = nil
	for i := range int64(bench.AbnormalMax) {
		f.Abnormal = append(f.Abnormal, bench.Release{K: f.Phase.First + 172*i, Second: 1.72 * float64(i), Outcome: bench.Late, Cause: bench.LateTask, Executed: true,
			Wake: ns(1000 + i), Begin: ns(2000 + i), End: ns(12e6 + i), Done: ns(12.1e6 + i), Sent: ns(12.2e6 + i), Kernel: ns(12.3e6 + i), Received: ns(12.4e6 + i)})
	}
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "long.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A report of 48 hours fits into 200 MB. How long it takes is logged, and no test.
func TestReportOf48Hours(t *testing.T) {
	if testing.Short() {
		t.Skip("a large file")
	}
	alone(t)
	dir := t.TempDir()
	start(t, dir, "run", "--out", "short", profile(t, quick(bench.HostServer)...)).code()
	maker := exec.Command(os.Args[0], "-test.run=^TestWriteALongResult$")
	maker.Env = append(os.Environ(), longFolder+"="+dir)
	if out, err := maker.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := filepath.Join(dir, "long.json")
	if info, err := os.Stat(path); err != nil || info.Size() < 20<<20 {
		t.Fatalf("the result is not long: %v, %v", info, err)
	}
	for _, format := range []string{"text", "html", "csv", "junit"} {
		begun := time.Now()
		c := start(t, dir, "report", path, "--format", format+"=out")
		c.code()
		took := time.Since(begun)
		if info, err := os.Stat(filepath.Join(dir, "out")); err != nil || info.Size() == 0 || info.Size() > 8<<20 {
			t.Errorf("%s: %v, %v", format, info, err)
		}
		most := c.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // of KiB
		t.Logf("%s: %d MB, %s", format, most, took.Round(10*time.Millisecond))
		if most > 200 {
			t.Errorf("%s: %d MB of memory", format, most)
		}
	}
}
