package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"opcycle/bench"
	"opcycle/judge"
	"opcycle/report"
	"opcycle/run"
)

// resultIn is the file of a result that path names: itself, or the one in its folder.
func resultIn(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("open the result: %w", err)
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, name := range []string{run.ResultName, repeatName} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return filepath.Join(path, name), nil
		}
	}
	return "", fmt.Errorf("%s holds no %s and no %s; name the folder that opcycle run printed", path, run.ResultName, repeatName)
}

// oneResult is resultIn for who can't take a list of runs.
func oneResult(path string) (string, error) {
	found, err := resultIn(path)
	if err == nil && filepath.Base(found) == repeatName {
		err = fmt.Errorf("%s is a list of runs; name one of them, %s", path, filepath.Join(path, "1"))
	}
	return found, err
}

// matching are the results in the folders below dir that match a pattern: "." is dir itself.
func matching(dir, below string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), path.Join(below, run.ResultName))
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	return names, err
}

// readResult reads the result at path.
func readResult(path string) (bench.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return bench.File{}, fmt.Errorf("open the result: %w", err)
	}
	defer f.Close()
	file, err := report.Read(f)
	if err != nil {
		return file, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// readRepeat reads the list of a folder's runs.
func readRepeat(path string) (*repeats, error) {
	s := &repeats{dir: filepath.Dir(path)}
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("open the list of runs: %w", err)
	}
	if err := json.Unmarshal(data, &s.said); err != nil {
		return s, fmt.Errorf("%s: %w; name the folder that opcycle run --repeat printed", path, err)
	}
	if s.said.Schema < 1 || s.said.Schema > bench.RepeatSchema {
		return s, fmt.Errorf("%s has schema %d, this program reads up to %d; use a later opcycle", path, s.said.Schema, bench.RepeatSchema)
	}
	for _, r := range s.said.Runs {
		if !filepath.IsLocal(r.File) {
			return s, fmt.Errorf("%s: run %q lies outside its folder", path, r.File)
		}
	}
	return s, nil
}

// verifyRepeat is everything that is wrong with the runs of a list.
func verifyRepeat(path string) error {
	s, err := readRepeat(path)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range s.said.Runs {
		errs = append(errs, verify(filepath.Join(s.dir, r.File)))
	}
	return errors.Join(errs...)
}

// reportRepeat prints what run --repeat printed, from its runs as they are now.
func reportRepeat(path string, out outputs) error {
	if out.plain != nil || len(out.files) > 0 {
		return fmt.Errorf("%s is a list of runs, which has no other form; it is JSON itself, and each run has every form: opcycle report %s --format html=PATH",
			path, filepath.Join(filepath.Dir(path), "1"))
	}
	s, err := readRepeat(path)
	if err != nil {
		return err
	}
	if err := spreadOf(s.dir, &s.said); err != nil {
		return err
	}
	if err := report.Repeat(out.stdout, s.said); err != nil {
		return err
	}
	if code := s.code(); code != exitPass {
		return verdict{code}
	}
	return nil
}

// spreadOf fills which runs of the folder count, and what they differ by.
func spreadOf(dir string, r *bench.Repeat) error {
	var valid []judge.Run
	for i := range r.Runs {
		one := &r.Runs[i]
		runs, err := runsIn(filepath.Join(dir, one.File))
		if err != nil {
			return err
		}
		if len(runs) != 1 {
			return fmt.Errorf("%s: holds %d runs; a repeated result holds one", filepath.Join(dir, one.File), len(runs))
		}
		if one.Valid, one.Why = runs[0].Valid, runs[0].Why; one.Valid {
			valid = append(valid, runs[0])
		}
	}
	r.Spread = judge.SpreadOf(valid)
	return nil
}
