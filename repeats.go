package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"opcycle/bench"
	"opcycle/judge"
	"opcycle/report"
	"opcycle/run"
)

// repeatName is the file that says what the runs of a folder differ by.
const repeatName = "repeat.json"

// mostRepeats bounds --repeat: a day of one-minute runs.
const mostRepeats = 1000

// repeats are several runs of one plan: DIR/1, DIR/2, each a whole result, and DIR/repeat.json.
type repeats struct {
	name  string // "", or what its runs are called on the terminal
	dir   string
	opcua run.OPCUA
	said  bench.Repeat
}

// checkRepeat refuses what a series of runs can't do, before any.
func checkRepeat(n int, out outputs) error {
	switch {
	case n < 1 || n > mostRepeats:
		return fmt.Errorf("--repeat %d is out of range; write 1 to %d runs", n, mostRepeats)
	case out.plain != nil:
		return fmt.Errorf("--format %s: the reports of several runs don't go to standard output; give it a file, %s=PATH, whose name gets the run's number, or print a run later: opcycle report DIR/1/%s",
			out.plain.Name, out.plain.Name, run.ResultName)
	case out.single != "":
		return fmt.Errorf("--repeat %d: %s", n, out.single)
	}
	return nil
}

// begin makes the folder of several series of n runs.
func begin(dir string) (string, error) {
	if dir == "" {
		dir = defaultOut()
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("%s holds something already; choose another folder with --out", dir)
	}
	return dir, nil
}

// one makes the next run. An error is one after which further runs make no sense.
func (s *repeats) one(ctx context.Context, out outputs, stderr io.Writer) error {
	i := len(s.said.Runs) + 1
	title := strings.TrimSpace(fmt.Sprintf("%s run %d of %d", s.name, i, s.said.Asked))
	fmt.Fprintln(stderr, title)
	o := s.opcua
	o.Plan.Out = filepath.Join(s.dir, strconv.Itoa(i))
	o.Plan.Notes = append([]string(nil), o.Plan.Notes...)
	to := out
	to.below = filepath.Base(s.dir)
	to.plain = &report.Format{Write: func(w io.Writer, f bench.File, v judge.Verdict, refs []bench.Reference) error {
		if _, err := fmt.Fprint(w, title, "  "); err != nil {
			return err
		}
		return report.Line(w, f, v, refs)
	}}
	to.files = make([]formatFile, len(out.files))
	for j, f := range out.files {
		to.files[j] = formatFile{f.format, numbered(f.path, s.name, i)}
	}
	err := conduct(ctx, o, to, stderr)
	var v verdict
	if err != nil && !errors.As(err, &v) {
		return fmt.Errorf("%s: %w", title, err)
	}
	s.said.Runs = append(s.said.Runs, bench.RepeatedRun{File: filepath.Join(strconv.Itoa(i), run.ResultName), Exit: v.code})
	return nil
}

// numbered is a report's file for run i of a series: r.html is r-2.html.
func numbered(path, name string, i int) string {
	end := filepath.Ext(path)
	return strings.TrimSuffix(path, end) + strings.TrimRight("-"+name, "-") + "-" + strconv.Itoa(i) + end
}

// end reads the runs back, and keeps and returns what they differ by.
func (s *repeats) end() (bench.Repeat, error) {
	s.said.Schema, s.said.Tool = bench.RepeatSchema, tool()
	if len(s.said.Runs) == 0 {
		return s.said, nil // nothing was made, nothing is kept
	}
	if err := spreadOf(s.dir, &s.said); err != nil {
		return s.said, err
	}
	return s.said, whole(filepath.Join(s.dir, repeatName), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(s.said)
	})
}

// code is the worst exit code of the runs; runs that are missing were not measured.
func (s *repeats) code() int {
	worst := exitPass
	if len(s.said.Runs) < s.said.Asked {
		worst = exitNotMeasured
	}
	for _, r := range s.said.Runs {
		worst = max(worst, r.Exit)
	}
	return worst
}

// repeat makes n runs of one plan and says what they differ by.
func repeat(ctx context.Context, n int, o run.OPCUA, out outputs, stderr io.Writer) error {
	dir, err := begin(o.Plan.Out)
	if err != nil {
		return err
	}
	s := &repeats{dir: dir, opcua: o, said: bench.Repeat{Asked: n}}
	var failed error
	for range n {
		if failed = s.one(ctx, out, stderr); failed != nil || ctx.Err() != nil {
			break
		}
	}
	said, err := s.end()
	if err != nil {
		return errors.Join(failed, err)
	}
	if len(said.Runs) > 0 {
		fmt.Fprintln(out.stdout)
		if err := report.Repeat(out.stdout, said); err != nil {
			return errors.Join(failed, err)
		}
		fmt.Fprintf(out.stdout, "\nresults: %s\n", dir)
	}
	if failed != nil {
		return failed
	}
	if code := s.code(); code != exitPass {
		return verdict{code}
	}
	return nil
}
