package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What runs beside, where, and what is said of it: 4 CPUs have server 3,1, client 2 and
// housekeeping 0; 2 CPUs server 1, client and housekeeping 0.
func TestBeside(t *testing.T) {
	const disturbs, neighbour = "cyclictest runs above the PLC thread", "it is no neighbour there"
	stress := func(on string) Beside {
		return Beside{Suite: SuiteStress, Role: RoleNoise, Settings: []Setting{{"engine", "auto"}, {"args", "--cpu 2 --fault 2 --cpu-load 80"}, {"on", on}}}
	}
	cyclic := func(cpus, priority string) Beside {
		return Beside{Suite: SuiteCyclictest, Role: RoleBeside, Settings: []Setting{{"cpus", cpus}, {"interval", "250µs"}, {"priority", priority}}}
	}
	for _, tt := range []struct {
		name, yaml string
		cpus       int
		want       []Beside
		notes      []string // of what runs beside
		line       string
	}{
		{"nothing", "", 4, nil, nil, "stress-ng off, cyclictest off, tracing off"},
		{"noise", "stress-ng: on", 4, []Beside{stress("0")}, nil, "stress-ng on, cyclictest off, tracing off"},
		{"noise on two CPUs", "stress-ng: on", 2, []Beside{stress("0")}, []string{"CPU 0 of the client itself, below it: " + neighbour}, "stress-ng on, cyclictest off, tracing off"},
		{"noise on the server", "stress-ng: on\nbeside: {stress_cpus: \"1-2\"}", 4, []Beside{stress("1-2")},
			[]string{"CPU 1 of the server itself", "CPU 2 of the client itself"}, "stress-ng on, cyclictest off, tracing off"},
		{"cyclictest", "cyclictest: on", 4, []Beside{cyclic("1-3", "99")}, []string{disturbs}, "stress-ng off, cyclictest on, tracing off"},
		{"cyclictest below the task", "cyclictest: on\nbeside: {cyclictest_priority: 79}", 4, []Beside{cyclic("1-3", "79")}, nil, "stress-ng off, cyclictest on, tracing off"},
		{"cyclictest elsewhere", "cyclictest: on\nbeside: {cyclictest_cpus: 0}", 4, []Beside{cyclic("0", "99")}, nil, "stress-ng off, cyclictest on, tracing off"},
		{"cyclictest above a task in the client", "plc: {host: client}\ncyclictest: on\nbeside: {cyclictest_cpus: 3}", 4, []Beside{cyclic("3", "99")}, []string{disturbs}, "stress-ng off, cyclictest on, tracing off"},
		{"cyclictest without a policy above", "cyclictest: on\nplacement: {rt: off}", 4, []Beside{cyclic("1-3", "99")}, nil, "stress-ng off, cyclictest on, tracing off"},
		{"others", "tracing: on\nbeside: {with: [lmbench, stress]}", 4, []Beside{{Suite: "lmbench", Role: RoleBeside}, {Suite: SuiteStress, Role: RoleNoise}},
			[]string{"the suite lmbench", "the suite stress"}, "stress-ng on, cyclictest off, tracing on; beside: lmbench"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Resolve(decoded(t, tt.yaml), machine(tt.cpus, 1, 1))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.Beside); diff != "" {
				t.Error(diff)
			}
			if got := p.Switches(); got != tt.line {
				t.Errorf("%q, want %q", got, tt.line)
			}
			if want := len(tt.want) > 0 || strings.Contains(tt.yaml, "tracing: on"); p.Disturbed() != want {
				t.Errorf("disturbed %v, want %v", p.Disturbed(), want)
			}
			of := func(n string) bool {
				return strings.Contains(n, disturbs) || strings.Contains(n, neighbour) || strings.Contains(n, "runs beside")
			}
			said := slices.DeleteFunc(slices.Clone(p.Notes), func(n string) bool { return !of(n) })
			if len(said) != len(tt.notes) {
				t.Fatalf("notes %q, want %q", said, tt.notes)
			}
			for i, n := range said {
				if !strings.Contains(n, tt.notes[i]) {
					t.Errorf("note %q, want %q", n, tt.notes[i])
				}
			}
		})
	}
}
