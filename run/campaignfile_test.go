package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

func TestDecodeCampaignComplains(t *testing.T) {
	const one = "phases: [{suite: ticks}]\n"
	for _, tt := range []struct{ name, yaml, want string }{
		{"empty", "", `c.yaml:1: nothing is in it; name phases; "opcycle campaign 48-hour-smoke --dry-run" prints an example`},
		{"no phases", "name: a\n", `c.yaml:1: phases: there are none; write "phases:" and "- suite: NAME" for each`},
		{"empty phases", "phases: []\n", `c.yaml:1: phases: the list is empty; write "- suite: NAME" for each`},
		{"one phase without a list", "phases: {suite: ticks}\n", `c.yaml:1: phases: a list of phases is expected, not a group of keys; write "- suite: NAME" for each`},
		{"a list", "- a\n", `c.yaml:1: a group of keys is expected, not a list; write them as "key: value", one a line`},
		{"not YAML", "phases: [", "c.yaml:1: not YAML: did not find expected node content; mind the indentation and the space after each colon"},
		{"second document", one + "---\na: 1\n", "c.yaml:2: a second document begins here; keep one campaign a file"},
		{"unknown key", "phase: 1\n" + one, "c.yaml:1: phase: unknown key; nearest: phases"},
		{"said twice", "name: a\nname: b\n" + one, "c.yaml:2: name: said before, in line 1; keep one of the two"},
		{"unknown suite", "phases:\n- suite: tick\n", `c.yaml:2: phases[0].suite: no suite is called "tick"; nearest: ticks, tocks`},
		{"no suite", "phases:\n- label: a\n", `c.yaml:2: phases[0]: no suite is named; write suite: NAME; "opcycle suite" lists them`},
		{"phase is a word", "phases:\n- ticks\n", `c.yaml:2: phases[0]: a group of keys is expected, not "ticks"; write them as "key: value", one a line`},
		{"unknown option", "phases:\n- suite: ticks\n  sample: 3\n", "c.yaml:3: phases[0].sample: suite ticks has no such option; nearest: samples"},
		{"bad option", "phases:\n- suite: ticks\n  samples: few\n", `c.yaml:3: phases[0].samples: "few" is out of range; write a whole number from 1 to 1000000`},
		{"option without a value", "phases:\n- suite: ticks\n  samples:\n", "c.yaml:3: phases[0].samples: no value; give one, or leave the key out for the default"},
		{"option with keys", "phases:\n- suite: ticks\n  samples:\n    a: 1\n", "c.yaml:4: phases[0].samples: one value is expected, not a group of keys; write it behind the colon"},
		{"list of lists", "phases:\n- suite: ticks\n  cpus: [1, [2]]\n", "c.yaml:3: phases[0].cpus: a list of values is expected, but it holds a list; write [a, b]"},
		{"default of no suite", "defaults: {sampels: 3}\n" + one, "c.yaml:1: defaults.sampels: no suite of this campaign has such an option; nearest: samples"},
		{"bad default, once", "defaults: {samples: 0}\nphases: [{suite: ticks}, {suite: tocks}]\n",
			`c.yaml:1: defaults.samples: "0" is out of range; write a whole number from 1 to 1000000`},
		{"two of a name", "phases:\n- suite: ticks\n- suite: ticks\n", "c.yaml:3: phases[1]: suite and label are those of line 2; give each phase of a suite a label of its own"},
		{"checkpoint too rare", "checkpoint: 2m\n" + one, "c.yaml:1: checkpoint: 2m0s would lose too much; use 1m0s or less"},
		{"checkpoint without a unit", "checkpoint: 2\n" + one, `c.yaml:1: checkpoint: "2" is no duration; write it with a unit, such as 10ms, 250us or 1m30s`},
		{"unknown role", "cores: {measure: 1}\n" + one, "c.yaml:1: cores.measure: unknown key; nearest: measured"},
		{"bad role", "cores: {measured: all}\n" + one, `c.yaml:1: cores.measured: "all" is no CPU list; write numbers and ranges such as 2 or 2,4-5, or auto`},
		{"all at once, in order", "phases:\n- suite: ticks\n  samples: 0\n- suite: no\ncheckpoint: x\n",
			`c.yaml:3: phases[0].samples: "0" is out of range; write a whole number from 1 to 1000000` + "\n" +
				`c.yaml:4: phases[1].suite: no suite is called "no"; it is one of ticks, tocks` + "\n" +
				`c.yaml:5: checkpoint: "x" is no duration; write it with a unit, such as 10ms, 250us or 1m30s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeCampaign("c.yaml", []byte(tt.yaml), tickSuites())
			got := "no complaint"
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Defaults go to the phases whose suite has them; a phase's own word is the last.
func TestDecodeCampaign(t *testing.T) {
	const text = `
checkpoint: 10s
cores: {measured: 902-903, noise: auto}
defaults: {samples: 5, produce: &file there, rt: "off"}
phases:
- {suite: ticks, samples: 6}
- {suite: tocks, label: second, produce: *file, cpus: [901]}
`
	c, err := DecodeCampaign("folder/mine.yaml", []byte(text), tickSuites())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Resolve(elsewhere()); err != nil {
		t.Fatal(err)
	}
	if c.Name != "mine" || c.Every != 10*time.Second {
		t.Errorf("%q, %s", c.Name, c.Every)
	}
	for i, want := range []string{
		"suite=ticks label= samples=6 produce=there fail= halt=0 keeps=on cpus=902-903 housekeeping-cpus=900-901 rt=off",
		"suite=tocks label=second samples=5 produce=there fail= halt=0 keeps=off cpus=901 housekeeping-cpus=900 rt=off",
	} {
		p := c.Phases[i]
		got := []string{"suite=" + p.Suite.Name, "label=" + p.Label}
		for _, s := range bench.Settings(p.Table()) {
			got = append(got, s.Name+"="+s.Value)
		}
		for _, pair := range strings.Fields(want) {
			if !slices.Contains(got, pair) {
				t.Errorf("phase %d: no %s in %q", i+1, pair, got)
			}
		}
	}
	if diff := cmp.Diff(Cores{Measured: []int{902, 903}, Noise: []int{900}, Housekeeping: []int{900, 901}}, c.Cores); diff != "" {
		t.Error(diff)
	}
}

// The printed plan makes the same campaign again.
func TestCampaignYAML(t *testing.T) {
	c, err := DecodeCampaign("c.yaml", []byte("phases: [{suite: ticks, label: \"a: b, #c\", produce: ~}, {suite: tocks, label: ~}]\n"), tickSuites())
	if err == nil {
		t.Fatal("a value that is none was read")
	}
	c, err = DecodeCampaign("c.yaml", []byte("phases: [{suite: ticks, label: \"a: b, #c\", produce: \"~\"}, {suite: tocks, label: \"null\", fail: \"- x\"}]\n"), tickSuites())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Resolve(elsewhere()); err != nil {
		t.Fatal(err)
	}
	first, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeCampaign("c.yaml", first, tickSuites())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Resolve(elsewhere()); err != nil {
		t.Fatal(err)
	}
	second, err := again.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Error(diff)
	}
	if again.Phases[0].Label != "a: b, #c" || again.Phases[1].Label != "null" {
		t.Errorf("labels %q, %q", again.Phases[0].Label, again.Phases[1].Label)
	}
}

func TestResolveComplains(t *testing.T) {
	c, err := DecodeCampaign("c.yaml", []byte("cores:\n  measured: 3\n  noise: 0\nphases: [{suite: ticks}]\n"), tickSuites())
	if err != nil {
		t.Fatal(err)
	}
	const want = "c.yaml:2: cores.measured: CPU 3 is not online or not allowed for this process (allowed: 900-903); write auto, or a CPU of these\n" +
		"c.yaml:3: cores.noise: CPU 0 is not online or not allowed for this process (allowed: 900-903); write auto, or a CPU of these"
	if err := c.Resolve(elsewhere()); err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}
