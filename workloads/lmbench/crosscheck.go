package lmbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
)

// tableCross has the ratios of our figures to those of the original's programs.
const tableCross = "cross_check"

// How the original's programs are run.
const (
	crossPairs    = 5 // ours, then the original's
	originalLimit = time.Minute
	serverStarts  = 300 * time.Millisecond // it says nothing when it listens
	originalFile  = 64 << 20
)

// setCross checks the folder at once: a mistyped one would cost a run.
func (r *runner) setCross(dir string) error {
	if dir == "" {
		r.cross = ""
		return nil
	}
	for _, o := range originals() {
		if _, err := os.Stat(filepath.Join(dir, o.args[0])); err == nil {
			r.cross = dir
			return nil
		}
	}
	return fmt.Errorf("%s has no program of lmbench (lat_syscall, lat_ctx, bw_mem, …); name the folder of its binaries, such as lmbench/bin/x86_64-linux-gnu", dir)
}

// checker runs the original's programs. One goroutine owns it.
type checker struct {
	*measurement
	dir    string
	folder string // for its files; empty: there is none
	file   string
}

// crossCheck measures every chosen figure that the original has a program for, in pairs,
// and adds their ratios. Programs that are servers are always stopped.
func (m *measurement) crossCheck(ctx context.Context) error {
	dir, err := filepath.Abs(m.cross)
	if err != nil {
		return fmt.Errorf("cross-check: %w", err)
	}
	c := checker{measurement: m, dir: dir}
	m.dynamic = hello(dir) // ours executes the same
	if base := m.folder(); base != "" {
		if c.folder, err = os.MkdirTemp(base, "original-"); err != nil {
			return fmt.Errorf("cross-check: a folder for the original's files: %w; choose another with --dir", err)
		}
		defer os.RemoveAll(c.folder)
		c.file = filepath.Join(c.folder, "file")
		if err := os.WriteFile(c.file, make([]byte, originalFile), 0o600); err != nil {
			return fmt.Errorf("cross-check: the original's file: %w; choose another folder with --dir", err)
		}
	}
	var todo []original
	for _, o := range originals() {
		if slices.ContainsFunc(m.todo, func(f figure) bool { return f.key() == o.figure }) {
			todo = append(todo, o)
		}
	}
	for i, o := range todo {
		m.job.Progress(bench.Progress{Phase: fmt.Sprintf("cross-check %d of %d: %s", i+1, len(todo), strings.Join(o.args, " ")), Share: float64(i) / float64(len(todo))})
		r, err := c.pairs(ctx, o)
		if err != nil || ctx.Err() != nil {
			return err
		}
		r.Run = "1"
		m.out.Readings = append(m.out.Readings, r)
	}
	return nil
}

// pairs is one ratio: the median of those of the pairs.
func (c *checker) pairs(ctx context.Context, o original) (bench.Reading, error) {
	out := bench.Reading{Table: tableCross, Name: o.figure, Mechanism: strings.Join(o.args, " "), Headline: true, Statistic: median, Unit: "ratio"}
	f, err := findFigure(o.figure)
	if err != nil {
		return out, err
	}
	if o.args, err = c.fill(o); err != nil {
		out.NA = err.Error()
		return out, nil
	}
	if !strings.Contains(out.Mechanism, "{f") { // the path of its file is of no interest, and another each time
		out.Mechanism = strings.Join(o.args, " ")
	}
	n := crossPairs
	if c.quick {
		n = 1
	}
	var ratios, own, theirs sample
	unit, why := "", ""
	for i := range n {
		g, v, err := c.pair(ctx, f, o, i%2 == 1)
		if ctx.Err() != nil {
			return out, nil
		}
		if err != nil {
			why = err.Error()
			continue
		}
		unit = g.Unit
		own.each, theirs.each, ratios.each = append(own.each, *g.Value), append(theirs.each, v), append(ratios.each, *g.Value/v)
	}
	if len(ratios.each) == 0 {
		out.NA = why
		return out, nil
	}
	slices.Sort(ratios.each)
	out.N, out.Value, out.Median = int64(len(ratios.each)), pointer(ratios.median()), pointer(ratios.median())
	out.Min, out.Max = &ratios.each[0], &ratios.each[len(ratios.each)-1]
	out.Deviation = fmt.Sprintf("ours %.4g, original %.4g %s", own.median(), theirs.median(), unit)
	if lost := n - len(ratios.each); lost > 0 {
		out.Deviation += fmt.Sprintf("; %d of %d pairs lost: %s", lost, n, why)
	}
	return out, nil
}

// pair measures ours and the original's, right after each other, in either order: what
// gets slower or faster meanwhile does so for both.
func (c *checker) pair(ctx context.Context, f figure, o original, theirsFirst bool) (g bench.Reading, v float64, err error) {
	if theirsFirst {
		if v, err = c.original(ctx, o); err != nil {
			return g, v, err
		}
	}
	got, err := c.figure(ctx, f, nil)
	if err != nil {
		return g, v, err
	}
	g, ok := o.ours(got)
	if !ok {
		return g, v, fmt.Errorf("ours is n/a: %s", g.NA)
	}
	if !theirsFirst {
		v, err = c.original(ctx, o)
	}
	return g, v, err
}

// ours is the reading that measures what the original does.
func (o original) ours(readings []bench.Reading) (bench.Reading, bool) {
	for _, g := range readings {
		if (o.row == "" && g.Headline || o.row != "" && strings.Contains(g.Mechanism, o.row)) && g.Value != nil {
			return g, true
		}
	}
	for _, g := range readings {
		if g.NA != "" {
			return g, false
		}
	}
	return bench.Reading{NA: "it has no row " + o.row}, false
}

// original runs the program once, with its server, and reads what it printed.
func (c *checker) original(ctx context.Context, o original) (float64, error) {
	cpu, server := c.order(figure{}).CPU, c.order(figure{}).CPU
	if o.apart {
		server = c.order(figure{}).Other
	}
	if o.server != nil {
		if _, err := c.run(ctx, server, o.server); err != nil {
			return 0, err
		}
		// However the run ends, the server does.
		defer func() {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), killAfter)
			defer cancel()
			_, _ = c.run(late, cpu, o.stop)
		}()
		select {
		case <-time.After(serverStarts):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	out, err := c.run(ctx, cpu, o.args)
	if err != nil {
		return 0, err
	}
	return o.read(out)
}

// fill puts the files into the arguments.
func (c *checker) fill(o original) ([]string, error) {
	args := slices.Clone(o.args)
	for i, a := range args {
		if strings.HasPrefix(a, "{f") && c.folder == "" {
			return nil, errors.New("there is no folder for its file; name one with --dir")
		}
		switch a {
		case "{file}":
			args[i] = c.file
		case "{folder}":
			args[i] = c.folder
		case "{stat}":
			path, err := fileToAsk()
			if err != nil {
				return nil, err
			}
			args[i] = path
		}
	}
	return args, nil
}
