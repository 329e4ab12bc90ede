package lmbench

import (
	"fmt"
	"strings"
	"time"

	"opcycle/bench"
)

// runner is the conductor's side of one run.
type runner struct {
	only     []string
	quick    bool
	runs     int
	dir      string
	enough   time.Duration
	unpinned bool
	cross    string
}

// The defaults: with them all figures end within three minutes, each from as many
// repetitions as the original makes.
const (
	defaultEnough = 50 * time.Millisecond
	defaultTries  = 11
	quickEnough   = 5 * time.Millisecond
	quickTries    = 3
)

func newRunner() bench.Runner { return &runner{runs: 1, enough: defaultEnough} }

// Options are the settings of the suite.
func (r *runner) Options() []bench.Option {
	return []bench.Option{
		{Name: "only", Usage: "measure these only: a table, a figure or table/figure; a comma between several, or the flag again (all)",
			Get: func() string { return strings.Join(r.only, ",") }, Set: r.setOnly},
		bench.SwitchOption("quick", &r.quick, fmt.Sprintf("see the form, not the figures: intervals of %s, %d repetitions", quickEnough, quickTries)),
		bench.IntOption("runs", &r.runs, 1, 64, "measure everything so many times, one line each"),
		bench.TextOption("dir", &r.dir, "folder on the file system that the file figures measure (the folder of the result)"),
		bench.DurationOption("enough", &r.enough, time.Millisecond, "length of one interval"),
		bench.SwitchOption("unpinned", &r.unpinned, "no place for anything, as the original; the scheduler decides, and the figures vary"),
		{Name: "cross-check", Usage: "folder with programs of the original lmbench: then run them in alternation with ours, and print the ratios; some minutes",
			Get: func() string { return r.cross }, Set: r.setCross},
	}
}

func (r *runner) setOnly(text string) error {
	var words []string
	for _, w := range strings.Split(text, ",") {
		if w = word(w); w != "" {
			words = append(words, w)
		}
	}
	if _, err := choose(words); err != nil {
		return err
	}
	r.only = append(r.only, words...)
	return nil
}

// interval and repetitions as the options want them.
func (r *runner) lengths() (enough time.Duration, tries int) {
	if r.quick {
		return quickEnough, quickTries
	}
	return r.enough, defaultTries
}
