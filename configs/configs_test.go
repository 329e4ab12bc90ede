package configs

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

// Every profile is valid, carries its own name, and differs from the defaults in nothing
// but what is listed here.
func TestProfiles(t *testing.T) {
	want := map[string]func(*bench.Config){
		"single-node": func(*bench.Config) {},
		"plc-client":  func(c *bench.Config) { c.PLC.Host = "client" },
		"dual-node":   func(c *bench.Config) { c.Run.WarmUp, c.Run.Floor = bench.Duration(5*time.Second), 0 },
		"quick":       func(c *bench.Config) { c.Run.Duration = bench.Duration(10 * time.Second) },
	}
	if len(Profiles()) != len(want) {
		t.Errorf("profiles %q", Profiles())
	}
	for name, change := range want {
		data, err := Profile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, origins, err := bench.Decode(name+".yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		if err := bench.Validate(got, origins); err != nil {
			t.Error(err)
		}
		c := bench.Defaults()
		c.Name = name
		change(&c)
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestProfileUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"quik":    `no profile is called "quik"; nearest: quick; name a file of your own with its ending, .yaml`,
		"nothing": `no profile is called "nothing"; it is one of dual-node, plc-client, quick, single-node; name a file of your own with its ending, .yaml`,
		"":        `no profile is called ""; it is one of dual-node, plc-client, quick, single-node; name a file of your own with its ending, .yaml`,
	} {
		if _, err := Profile(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestReferences(t *testing.T) {
	files, err := fs.Glob(References(), "*.csv")
	if err != nil || len(files) == 0 {
		t.Errorf("files %q, error %v", files, err)
	}
}

// Every shipped set of budgets is whole, for a cycle of its own, each limit with its source.
func TestBudgetSetsAreWhole(t *testing.T) {
	cycles := map[time.Duration]bool{}
	for _, name := range BudgetSets() {
		data, err := Budgets(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := bench.DecodeBudgetSet(name, data)
		if err != nil {
			t.Error(err)
		}
		cycles[set.Interval] = true
	}
	for _, d := range []time.Duration{10 * time.Millisecond, time.Millisecond, 250 * time.Microsecond} {
		if !cycles[d] {
			t.Errorf("no budgets for a cycle of %s", d)
		}
	}
	if _, err := Budgets("process-10"); err == nil || !strings.Contains(err.Error(), "process-10ms") {
		t.Errorf("%v", err)
	}
}
