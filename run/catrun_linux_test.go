package run

import (
	"strings"
	"testing"

	"opcycle/bench"
)

// onCPUs is a run's session on a machine of four CPUs, whose server is on CPU 2 and client on 3.
func onCPUs(t *testing.T, m *machine, cat *bench.CATPlan) *session {
	t.Helper()
	s := &session{ctx: t.Context()}
	s.Host, s.Root, s.Plan.CAT = m.host, m.root, cat
	s.Plan.Server, s.Plan.Client = bench.Process{Name: bench.ProcessServer, CPUs: []int{2}}, bench.Process{Name: bench.ProcessClient, CPUs: []int{3}}
	return s
}

// A run gives both measured processes' CPUs ways of their own, and leaves the kernel as it
// was; the result says what was applied.
func TestRunAllocates(t *testing.T) {
	m := seed(t)
	m.mount(t, 0)
	before := m.kernel.state()
	s := onCPUs(t, m, &bench.CATPlan{Mode: bench.CATRequire, RTMask: "c0", RestMask: bench.CATAuto, Level: bench.CATAuto})
	if err := s.allocate(); err != nil {
		t.Fatal(err)
	}
	g := m.kernel.group(groupRT)
	if g == nil || bench.CPUList(g.cpus).String() != "2-3" || !strings.Contains(m.kernel.schemata(g), "L3:0=c0") {
		t.Errorf("the group is %+v", g)
	}
	s.free()
	if c := s.file.CAT; c == nil || !c.Applied || len(c.Groups) != 2 || len(s.file.Invalid) > 0 || len(s.file.Warnings) > 0 {
		t.Errorf("%+v, invalid %q, warnings %q", c, s.file.Invalid, s.file.Warnings)
	}
	if after := m.kernel.state(); after != before {
		t.Errorf("left\n%snot\n%s", after, before)
	}
	s.cat.remove() // what close does, once more
}

// A server of somebody else keeps its own ways: only the client's CPUs are in the group.
func TestRunAllocatesForItsOwnEnd(t *testing.T) {
	m := seed(t)
	m.mount(t, 0)
	s := onCPUs(t, m, &bench.CATPlan{Mode: bench.CATAuto, RTMask: bench.CATAuto, RestMask: bench.CATAuto, Level: bench.CATAuto})
	s.Remote = &Remote{}
	if err := s.allocate(); err != nil {
		t.Fatal(err)
	}
	if g := m.kernel.group(groupRT); g == nil || bench.CPUList(g.cpus).String() != "3" {
		t.Errorf("the group is %+v", g)
	}
	s.free()
	if len(s.file.Warnings) != 1 || !strings.Contains(s.file.Warnings[0], "client's CPUs") {
		t.Errorf("%q", s.file.Warnings)
	}
}

// What can't be had is said, or ends the run before it measures; off asks for nothing.
func TestRunWithoutResctrl(t *testing.T) {
	m := seed(t)
	auto := bench.CATPlan{Mode: bench.CATAuto, RTMask: bench.CATAuto, RestMask: bench.CATAuto, Level: bench.CATAuto}
	s := onCPUs(t, m, &auto)
	if err := s.allocate(); err != nil {
		t.Fatal(err)
	}
	s.free()
	if c := s.file.CAT; c == nil || c.Applied || c.Why == "" || len(s.file.Warnings) != 1 || !strings.Contains(s.file.Warnings[0], "asked for and not had: "+c.Why) {
		t.Errorf("%+v, warnings %q", s.file.CAT, s.file.Warnings)
	}
	require := auto
	require.Mode = bench.CATRequire
	if err := onCPUs(t, m, &require).allocate(); err == nil || !strings.Contains(err.Error(), "--cat require: CAT not applied: ") {
		t.Errorf("%v", err)
	}
	off := onCPUs(t, m, nil)
	if err := off.allocate(); err != nil {
		t.Fatal(err)
	}
	off.free()
	if off.file.CAT != nil || len(off.file.Warnings) > 0 {
		t.Errorf("%+v, warnings %q", off.file.CAT, off.file.Warnings)
	}
}
