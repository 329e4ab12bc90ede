package run

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"opcycle/bench"
)

func requireCAT() CATOptions {
	o := DefaultCATOptions()
	o.Mode = catRequire
	return o
}

// conductCAT is the run that is killed.
func conductCAT(root string) error {
	job := bench.Job{Root: root, Measured: []int{3}}
	for i := range 4 {
		job.Host.CPUs = append(job.Host.CPUs, bench.CPU{ID: i, Caches: []bench.Cache{{Level: 3, Type: "Unified", ID: 0}}})
	}
	if err := NewCAT(requireCAT()).Begin(context.Background(), &job); err != nil {
		return err
	}
	fmt.Println("applied")
	time.Sleep(time.Minute)
	return nil
}

func TestCATOptions(t *testing.T) {
	o := DefaultSuiteOptions()
	for _, c := range []struct {
		name, value string
		ok          bool
	}{{"cat", "auto", true}, {"cat", "on", false}, {"cat-level", "2", true}, {"cat-level", "1", false}, {"cat-rt-mask", "f0", true}, {"cat-rt-mask", "0xff", true},
		{"cat-rt-mask", "0", false}, {"cat-rt-mask", "", false}, {"cat-rt-mask", "-1", false}, {"cat-rest-mask", "0f", true}, {"cat-rest-mask", "upper", false}} {
		for _, x := range o.Table() {
			if x.Name != c.name {
				continue
			}
			err := x.Set(c.value)
			if (err == nil) != c.ok || c.ok && x.Get() != c.value {
				t.Errorf("--%s %q: %v, then it is %q", c.name, c.value, err, x.Get())
			}
		}
	}
	if want := (CATOptions{"auto", "0xff", "0f", "2"}); o.CAT != want {
		t.Errorf("the options are %+v", o.CAT)
	}
}

func TestSplitOfWays(t *testing.T) {
	for _, c := range []struct{ run, want string }{{"0", "0"}, {"f0", "f0"}, {"ff0f", "ff00"}, {"c3", "c0"}, {"8000000000000001", "8000000000000000"}, {"ffffffffffffffff", "ffffffffffffffff"}} {
		in, _ := strconv.ParseUint(c.run, 16, 64)
		if got := fmt.Sprintf("%x", longestRun(in)); got != c.want {
			t.Errorf("the longest run of %s is %s, not %s", c.run, got, c.want)
		}
	}
}
