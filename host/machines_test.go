package host

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"opcycle/bench"
)

// machineFile is a machine of the tests: a capture of a real one, or the tuned machine (see
// tunedMachine) with what a public text says of another in its place.
type machineFile struct {
	Source  string            `yaml:"source"` // captured, or public
	Plan    string            `yaml:"plan"`   // "resolved": the default plan on this machine; else, of a public one, quietPlan
	Links   map[string]string `yaml:"links"`
	Files   map[string]string `yaml:"files"`
	Changes []struct {
		Path   string `yaml:"path"`
		Text   string `yaml:"text"`   // empty: it is not there
		Source string `yaml:"source"` // an address, or synthetic: a guess
	} `yaml:"changes"`
	Refused map[string]string `yaml:"refused"` // errno by call; what is not here was granted
}

func readMachine(t *testing.T, name string) machineFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "machines", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m machineFile
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// facts are what is read of the machine, and the need of the default plan there.
func (m machineFile) facts(t *testing.T) (Facts, bench.Need) {
	t.Helper()
	var f Facts
	if m.Source == "captured" {
		root := rootOf(t, m.Files)
		for at, target := range m.Links {
			path := filepath.Join(root, at)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if f, err = ReadFacts(root); err != nil {
			t.Fatal(err)
		}
	} else {
		files := map[string]string{}
		for _, c := range m.Changes {
			files[c.Path] = strings.TrimSuffix(c.Text, "\n")
		}
		attempts := granted()
		for i, a := range attempts {
			attempts[i].Errno = m.Refused[a.Call]
		}
		f = factsWith(t, files, attempts)
	}
	if m.Source != "captured" && m.Plan == "" {
		return f, quietPlan()
	}
	plan, err := bench.Resolve(bench.Defaults(), f.Host)
	if err != nil {
		t.Fatal(err)
	}
	return f, plan.Need("")
}

// Each machine's findings that are not fit, all of them by severity and key: a new one, one
// that is gone and another grade are each a change that somebody has to want.
func TestMachines(t *testing.T) {
	for name, want := range map[string]map[bench.Severity]string{
		"rhel-rt": {
			bench.SeverityWarning: "rcu_nocbs",
			bench.SeverityNote:    "irqaffinity nohz_full turbo",
		},
		"rhel-stock": {
			bench.SeverityWarning: "irqbalance isolcpus preempt_rt thp tuned",
			bench.SeverityNote:    "cpu_pinning irqaffinity nohz_full rcu_nocbs resctrl rt_throttling",
		},
		"rootful": {
			bench.SeverityWarning: "interrupts isolcpus preempt_rt virtual",
			bench.SeverityNote:    "cpu_pinning cstates fair_server foreign_threads governor irqaffinity irqbalance nohz_full placement rcu_nocbs resctrl rt_group_sched rt_throttling smi tuned turbo",
		},
		"rootless": {
			bench.SeverityWarning: "interrupts isolcpus preempt_rt try_cpu_dma_latency try_mlockall try_sched_setscheduler virtual",
			bench.SeverityNote:    "capabilities cpu_pinning cstates fair_server governor irqaffinity limits nohz_full placement rcu_nocbs resctrl rt_group_sched rt_throttling smi tuned turbo",
		},
		"cgroup-v1": {
			bench.SeverityWarning: "interrupts isolcpus preempt_rt rt_group_sched try_sched_setscheduler virtual",
			bench.SeverityNote:    "cpu_pinning cstates fair_server governor irqaffinity nohz_full placement rcu_nocbs resctrl rt_throttling smi tuned turbo",
		},
		"openshift": {
			bench.SeverityNote: "foreign_threads irqbalance placement tuned",
		},
		"laptop": {
			bench.SeverityWarning: "cstates governor isolcpus preempt_rt smt try_cpu_dma_latency try_mlockall try_sched_setscheduler",
			bench.SeverityNote:    "capabilities cpu_pinning irqaffinity limits nohz_full rcu_nocbs resctrl tuned turbo",
		},
		"vm": {
			bench.SeverityWarning: "interrupts isolcpus preempt_rt virtual",
			bench.SeverityNote:    "cpu_pinning cstates fair_server governor irqaffinity nohz_full placement rcu_nocbs resctrl rt_group_sched rt_throttling smi tuned turbo",
		},
		"arm64": {
			bench.SeverityWarning: "governor isolcpus preempt_rt",
			bench.SeverityNote:    "cpu_pinning cstates irqaffinity nohz_full rcu_nocbs resctrl tuned turbo",
		},
	} {
		t.Run(name, func(t *testing.T) {
			findings := Check(readMachine(t, name).facts(t))
			got := map[bench.Severity]string{}
			for _, s := range []bench.Severity{bench.SeverityUnfit, bench.SeverityUnknown, bench.SeverityWarning, bench.SeverityNote} {
				var keys []string
				for _, x := range findings {
					if x.Severity == s {
						keys = append(keys, x.Key)
						t.Logf("%s %s: %s: %s", x.Severity, x.Key, x.Title, x.Seen)
					}
				}
				if slices.Sort(keys); len(keys) > 0 {
					got[s] = strings.Join(keys, " ")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a reader has to be told of each kind of machine, in words.
func TestWhatMachinesAreTold(t *testing.T) {
	for _, c := range []struct{ machine, key, says string }{
		{"cgroup-v1", "try_sched_setscheduler", "RT_GROUP_SCHED: the control group /plant has no budget"},
		{"rootless", "try_sched_setscheduler", "CAP_SYS_NICE of a user namespace does not count"},
		{"rootless", "try_mlockall", "CAP_IPC_LOCK of a user namespace does not count"},
		{"laptop", "try_sched_setscheduler", "no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0"},
		{"laptop", "cstates", "exit latency 1048 µs"},
		{"laptop", "preempt_rt", "pro enable realtime-kernel"},
		{"openshift", "cpu_pinning", "cpuset 2-3, allowed 2-3, measured 2-3"},
		{"openshift", "tuned", "a container does not see its host's /etc/tuned"},
		{"rhel-rt", "rcu_nocbs", "boot with rcu_nocbs=2-3"},
		{"rhel-stock", "preempt_rt", "dnf install kernel-rt"},
		{"rhel-stock", "rt_throttling", "950000 of each 1000000 us"},
		{"rootful", "irqbalance", "not every process of the machine is seen from here"},
		{"vm", "virtual", "steal time since boot"},
		{"arm64", "preempt_rt", "apt install linux-image-rt-arm64"},
		{"arm64", "tsc", "CNTVCT has a fixed frequency"},
		{"arm64", "smi", "arm64 has none"},
	} {
		x := find(t, Check(readMachine(t, c.machine).facts(t)), c.key)
		if said := strings.Join([]string{x.Title, x.Seen, x.Cost, x.Remedy}, "\n"); !strings.Contains(said, c.says) {
			t.Errorf("%s, %s: %q is not in %s", c.machine, c.key, c.says, said)
		}
	}
}

// Every file of a machine that was not captured says where it is from.
func TestMachinesSayTheirSources(t *testing.T) {
	paths, err := filepath.Glob("testdata/machines/*.yaml")
	if err != nil || len(paths) != 9 {
		t.Fatalf("%d machines, %v", len(paths), err)
	}
	for _, path := range paths {
		m := readMachine(t, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		if m.Source != "captured" && (m.Source != "public" || len(m.Changes) == 0) || m.Source == "captured" && len(m.Changes) > 0 {
			t.Errorf("%s is %q with %d changes", path, m.Source, len(m.Changes))
		}
		for _, c := range m.Changes {
			if !strings.HasPrefix(c.Source, "https://") && !strings.HasPrefix(c.Source, "synthetic") {
				t.Errorf("%s: %s is from %q", path, c.Path, c.Source)
			}
		}
	}
}
