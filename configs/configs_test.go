package configs

import (
	"io/fs"
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
