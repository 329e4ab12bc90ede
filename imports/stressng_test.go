package imports

import (
	"os"
	"strings"
	"testing"

	"opcycle/bench"
)

func TestStressNG(t *testing.T) {
	data, err := os.ReadFile("testdata/stress-ng.yaml") // of stress-ng 0.15.06, here
	if err != nil {
		t.Fatal(err)
	}
	r, err := StressNG("f", data)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"bogo_ops.count": 393, "bogo_ops.rate": 195.764838, "time.wall": 2.007511e9, "time.user": 1.957026e9, "time.system": 0}
	for _, f := range r.Figures {
		if v, ok := want[f.Series+"."+f.Statistic]; !ok || f.Value == nil || *f.Value != v || f.Object != "memcpy" {
			t.Errorf("%+v, want %v", f, v)
		}
	}
	if len(r.Figures) != len(want) || r.Role != bench.RoleNoise || r.Started.Unix() != 1796096662 || r.Settings[0].Value != "0.15.06" {
		t.Errorf("%+v", r)
	}
}

func TestStressNGThatCantBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"", "no groups of keys"},
		"a list":      {"- a", "no groups of keys"},
		"no metrics":  {"system-info:\n  x: 1\n", "line 1: no metrics"},
		"not YAML":    {"a: [", "not the YAML"},
		"no number":   {"metrics:\n  - stressor: cpu\n    bogo-ops: many\n", "line 3: bogo-ops"},
		"nan":         {"metrics:\n  - stressor: cpu\n    bogo-ops: .nan\n", "line 3"},
		"no name":     {"metrics:\n  - bogo-ops: 3\n", "line 2: a stressor without a name"},
		"no bogo-ops": {"metrics:\n  - stressor: cpu\n", "has no bogo-ops"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := StressNG("f.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "f.yaml") {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
}
