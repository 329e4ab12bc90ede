package lmbench

import (
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	all, err := choose(nil)
	if err != nil || len(all) < 25 {
		t.Fatalf("%d figures: %v", len(all), err)
	}
	for name, c := range map[string]struct {
		words []string
		want  []string // keys that are in
		not   []string
	}{
		"a table":              {[]string{"processor"}, []string{"processor/null_call", "processor/sh"}, []string{"local_latency/pipe"}},
		"a figure":             {[]string{"stat"}, []string{"processor/stat"}, []string{"processor/null_call"}},
		"table/figure":         {[]string{"local_latency/pipe"}, []string{"local_latency/pipe"}, []string{"local_bandwidth/pipe"}},
		"in two tables":        {[]string{"context_switch_2p_0k"}, []string{"context_switching/context_switch_2p_0k", "local_latency/context_switch_2p_0k"}, nil},
		"a table and a figure": {[]string{"context_switching", "tcp_connect"}, []string{"context_switching/context_switch_2p_0k", "local_latency/tcp_connect"}, []string{"processor/stat"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose(c.words)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, f := range got {
				keys = append(keys, f.key())
			}
			for _, k := range c.want {
				if !slices.Contains(keys, k) {
					t.Errorf("without %s: %v", k, keys)
				}
			}
			for _, k := range c.not {
				if slices.Contains(keys, k) {
					t.Errorf("with %s: %v", k, keys)
				}
			}
		})
	}
}

func TestOnly(t *testing.T) {
	r := &runner{}
	for _, text := range []string{"Null-Call, null io", "local_latency/pipe"} {
		if err := r.setOnly(text); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"null_call", "null_io", "local_latency/pipe"}; !slices.Equal(r.only, want) {
		t.Errorf("only %v, not %v", r.only, want)
	}
	if err := r.setOnly("nul_cal"); err == nil || !strings.Contains(err.Error(), `"nul_cal"`) || !strings.Contains(err.Error(), "null_call") {
		t.Errorf("the error is %v", err)
	}
	if len(r.only) != 3 {
		t.Errorf("a refused word was kept: %v", r.only)
	}
}

// Every figure has a name of its own within its table and can be found by its key.
func TestFigureNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range figures() {
		if seen[f.key()] {
			t.Errorf("%s stands twice", f.key())
		}
		seen[f.key()] = true
		if f.column == "" || f.run == nil || word(f.name) != f.name || word(f.table) != f.table {
			t.Errorf("%s is incomplete or is no word", f.key())
		}
		if got, err := findFigure(f.key()); err != nil || got.key() != f.key() {
			t.Errorf("%s is not found: %v", f.key(), err)
		}
		if na := f.na("because"); len(na) != 1 || na[0].NA != "because" || !na[0].Headline || na[0].Value != nil || na[0].Unit == "" {
			t.Errorf("%s without a number is %+v", f.key(), na)
		}
	}
}
