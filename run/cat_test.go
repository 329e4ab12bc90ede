package run

import (
	"strings"
	"testing"

	"opcycle/bench"
)

// Without a mount, a processor's flag or a kernel's option, a run goes on and says what is
// missing; required, it ends before anything is measured.
func TestCATThatIsNotToBeHad(t *testing.T) {
	for _, word := range []string{catAuto, catRequire} {
		o := DefaultSuiteOptions()
		o.CAT = word
		c := &CAT{options: &o}
		err := c.Begin(t.Context(), &bench.Job{Root: t.TempDir(), Measured: []int{1}})
		if (err != nil) != (word == catRequire) {
			t.Errorf("%s: %v", word, err)
		}
		var r bench.SuiteResult
		c.End(&r)
		if r.CAT == nil || r.CAT.Applied || !strings.Contains(r.CAT.Why, "cpuinfo") || len(r.Absent) != 1 {
			t.Errorf("%s: %+v, absent %+v", word, r.CAT, r.Absent)
		}
	}
}

func TestWayMask(t *testing.T) {
	for text, want := range map[string]uint64{"f0": 0xf0, "0xff": 0xff, "0": 0, "": 0, "g": 0, "-1": 0} {
		got, err := wayMask(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %x, %v", text, got, err)
		}
	}
}

func TestCATOptionsAreOneLineEach(t *testing.T) {
	o := DefaultSuiteOptions()
	if len(Arounds(&o)) != 0 {
		t.Error("the default puts something around a suite")
	}
	set := map[string]string{"cat": "auto", "cat-level": "2", "cat-mask": "f0", "cat-rest-mask": "0f"}
	for _, x := range o.Table() {
		if v, ok := set[x.Name]; ok {
			if err := x.Set(v); err != nil || x.Get() != v {
				t.Errorf("%s: %v, %q", x.Name, err, x.Get())
			}
			delete(set, x.Name)
		}
	}
	if len(set) > 0 || len(Arounds(&o)) != 1 {
		t.Errorf("not set: %v", set)
	}
}
