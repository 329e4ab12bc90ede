package host

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

var update = flag.Bool("update", false, "write the golden files anew")

// unpack makes a root of testdata/name.txt: after "-- path --" the file's text, and
// "-- path -> target --" is a link.
func unpack(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	marker := regexp.MustCompile(`(?m)^-- (\S+)(?: -> (\S+))? --\n`)
	at := marker.FindAllSubmatchIndex(data, -1)
	for i, m := range at {
		end := len(data)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		file := filepath.Join(root, string(data[m[2]:m[3]]))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if m[4] >= 0 {
			err = os.Symlink(string(data[m[4]:m[5]]), file)
		} else {
			err = os.WriteFile(file, data[m[1]:end], 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead(t *testing.T) {
	for _, name := range []string{"vm2", "rt8", "bare"} {
		t.Run(name, func(t *testing.T) {
			h, err := Read(unpack(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if h.Arch != runtime.GOARCH {
				t.Errorf("architecture %s", h.Arch)
			}
			h.Arch = "" // the golden is for every machine
			got, err := json.MarshalIndent(h, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A plan can be made from every fixture that shows at least the affinity.
func TestReadResolves(t *testing.T) {
	for name, want := range map[string]string{"vm2": "server 0 client 1", "rt8": "server 2,7 client 6"} {
		h, err := Read(unpack(t, name))
		if err != nil {
			t.Fatal(err)
		}
		p, err := bench.Resolve(bench.Defaults(), h)
		if err != nil {
			t.Fatal(err)
		}
		got := "server " + bench.CPUList(p.Server.CPUs).String() + " client " + bench.CPUList(p.Client.CPUs).String()
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	root := t.TempDir()
	if _, err := Read(root); err == nil || !strings.Contains(err.Error(), "this works on Linux with /proc mounted") {
		t.Errorf("error %v", err)
	}
	if _, err := Counters(root); err == nil || !strings.Contains(err.Error(), "this works on Linux with /proc mounted") {
		t.Errorf("error %v", err)
	}
}

func to[T any](v T) *T { return &v }

func TestCounters(t *testing.T) {
	c, err := Counters(unpack(t, "vm2"))
	if err != nil {
		t.Fatal(err)
	}
	want := CPUCounters{
		CPUs: []CPUCount{
			{0, to(710 * time.Millisecond), to[int64](38943 + 8461 + 2993 + 1653), to[int64](2993 + 1653), to[int64](7151 + 4321 + 10000)},
			{1, to(720 * time.Millisecond), to[int64](34756 + 6958 + 15 + 43304 + 3440), to[int64](15 + 43304 + 3440), to[int64](7241 + 1234 + 11000)},
		},
		Throttled: to[int64](0), ThrottledFor: to(time.Duration(0)),
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

// CPU 3 is offline: columns are matched by their heading; throttling adds up over levels.
func TestCountersOffline(t *testing.T) {
	c, err := Counters(unpack(t, "rt8"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.of(7); *got.Softirqs != 88 || *got.Interrupts != 1007 || *got.Devices != 0 {
		t.Errorf("CPU 7: %v softirqs, %v interrupts, %v of devices", *got.Softirqs, *got.Interrupts, *got.Devices)
	}
	if *c.Throttled != 3 || *c.ThrottledFor != 2*time.Millisecond {
		t.Errorf("throttled %d times, %s", *c.Throttled, *c.ThrottledFor)
	}
}

func TestSince(t *testing.T) {
	before := CPUCounters{CPUs: []CPUCount{{CPU: 0, Steal: to(time.Second), Interrupts: to[int64](5)}}, Throttled: to[int64](1)}
	after := CPUCounters{CPUs: []CPUCount{{CPU: 0, Steal: to(3 * time.Second), Softirqs: to[int64](7)}, {CPU: 1}}, Throttled: to[int64](1)}
	want := CPUCounters{CPUs: []CPUCount{{CPU: 0, Steal: to(2 * time.Second)}, {CPU: 9}}, Throttled: to[int64](0)}
	if diff := cmp.Diff(want, after.Since(before, []int{0, 9})); diff != "" {
		t.Error(diff)
	}
}

func TestPreempt(t *testing.T) {
	for _, tt := range []struct{ name, version, cmdline, config, want string }{
		{"real time", "#1 SMP PREEMPT_RT", "", "", "PREEMPT_RT"},
		{"dynamic, mode unknown", "#1 SMP PREEMPT_DYNAMIC", "", "", "PREEMPT_DYNAMIC"},
		{"dynamic, command line", "#1 SMP PREEMPT_DYNAMIC", "quiet preempt=lazy", "CONFIG_PREEMPT=y", "PREEMPT_DYNAMIC (lazy)"},
		{"dynamic, build", "#1 SMP PREEMPT_DYNAMIC", "", "CONFIG_PREEMPT=y", "PREEMPT_DYNAMIC (full)"},
		{"static", "#1 SMP PREEMPT", "", "", "PREEMPT"},
		{"voluntary", "#1 SMP", "", "CONFIG_PREEMPT_VOLUNTARY=y", "voluntary"},
		{"none", "#1 SMP", "", "", "none"},
		{"unknown", "", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (&tree{files: disk(t.TempDir())}).preempt(tt.version, tt.cmdline, tt.config); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestGroupSched(t *testing.T) {
	for _, tt := range []struct {
		config, cmdline string
		want            bool
	}{
		{"# CONFIG_RT_GROUP_SCHED is not set", "", false},
		{"CONFIG_RT_GROUP_SCHED=y", "", true},
		{"CONFIG_RT_GROUP_SCHED=y", "rt_group_sched=0", false},
		{"CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y", "", false},
		{"CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y", "rt_group_sched=1", true},
	} {
		if got := groupSched(tt.config, tt.cmdline); *got != tt.want {
			t.Errorf("%q, %q: %v", tt.config, tt.cmdline, *got)
		}
	}
}

// The machine that runs the test has an affinity, CPUs and a boot id, and reading it
// twice gives counters that do not go back.
func TestReadThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc of Linux")
	}
	h, err := Read("/")
	if err != nil {
		t.Fatal(err)
	}
	if len(h.CPUs) == 0 || len(h.Allowed) == 0 || h.BootID == "" || h.Kernel == "" || h.Memory <= 0 {
		t.Errorf("%+v", h)
	}
	before, err := Counters("/")
	if err != nil {
		t.Fatal(err)
	}
	after, err := Counters("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range after.Since(before, h.Allowed).CPUs {
		if c.Interrupts == nil || *c.Interrupts < 0 {
			t.Errorf("CPU %d: interrupts %v", c.CPU, c.Interrupts)
		}
	}
}
