//go:build proof

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"opcycle/judge"
)

// TestProofOfCompare is 30 comparisons by --repeat 5 on this machine, some 25 minutes: of 20
// of a plan with itself, one at most may say better or worse; of 10 with a workload of 3 %
// more, nine must say worse. It is no test of CI: what it proves is of one machine and its
// noise.
//
//	go test -tags proof -run TestProofOfCompare -timeout 90m -v .
func TestProofOfCompare(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	plan := func(name, iterations string) string {
		path := filepath.Join(dir, name+".yaml")
		text := "name: " + name + "\nplc: {interval: 2ms, iterations: " + iterations + "}\nrun: {duration: 2200ms, warm_up: 200ms, floor: 10}\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, more := plan("a", "2500"), plan("more", "2575")
	said := map[string]map[judge.Compared]int{a: {}, more: {}}
	for i := range 30 {
		b := a
		if i%3 == 2 { // in turns, as everything here
			b = more
		}
		out := filepath.Join(dir, strconv.Itoa(i))
		c := start(t, dir, "compare", "--repeat", "5", a, b, "--out", out)
		c.code()
		for line := range strings.Lines(c.stdout.String()) {
			if word, rest, ok := strings.Cut(line, ": "); ok && strings.Contains(rest, "compared with") {
				t.Log(filepath.Base(b), strings.TrimSpace(line))
				said[b][judge.Compared(word)]++
			}
		}
		_ = os.RemoveAll(out)
	}
	t.Logf("the same: %v; 3 %% more: %v", said[a], said[more])
	if n := said[a][judge.Better] + said[a][judge.Worse]; n > 1 {
		t.Errorf("%d of 20 comparisons of a plan with itself say better or worse", n)
	}
	if n := said[more][judge.Worse]; n < 9 {
		t.Errorf("%d of 10 comparisons find 3 %% more work", n)
	}
}
