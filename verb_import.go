package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"opcycle/bench"
	"opcycle/imports"
	"opcycle/report"

	"github.com/spf13/cobra"
)

func importVerb() *cobra.Command {
	var out, kind string
	var formats *[]string
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "turn results of other programs into a result, to report them side by side",
		Long: `import reads what another program wrote and writes a result of ours, which report, compare
and verify read like one of a run. The program is found by what is in the file, or named
with --kind:

` + kindList() + `
Each FILE becomes NAME.opcycle.json beside it, or all of them one result with --out. A
FILE may be a result of ours (run.json of a suite, a campaign or an import), so that
figures measured here stand beside imported ones in one report. Nothing is overwritten.

A line that cannot be read is an error with its number, and nothing is written. What a
program does not say is n/a.`,
		Example: `  cyclictest -q -a3 -p99 -m -i250 -D24h -h400 --json=c.json; opcycle import c.json
  opcycle import c.json results/…/run.json --out both.json
  opcycle report both.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := readOutputs(cmd.OutOrStdout(), *formats)
			if err != nil {
				return err
			}
			return runImport(args, kind, out, to, cmd.ErrOrStderr())
		},
	}
	formats = formatFlag(cmd)
	cmd.Flags().StringVar(&kind, "kind", "auto", "program that wrote the files: auto, "+strings.Join(kindNames(), ", "))
	cmd.Flags().StringVar(&out, "out", "", "one result with all of them, FILE.json (NAME.opcycle.json beside each)")
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range imports.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func kindList() string {
	var b strings.Builder
	for _, k := range imports.Kinds() {
		fmt.Fprintf(&b, "  %-12s %s\n", k.Name, k.What)
	}
	return b.String()
}

// imported is a result to write.
type imported struct {
	path string
	file bench.File
}

// runImport reads all of them before it writes any.
func runImport(paths []string, kind, out string, to outputs, stderr io.Writer) error {
	if out == "" && len(paths) > 1 && to.plain != nil {
		return errors.New("one form for several results; put them into one with --out FILE.json")
	}
	var all []imported
	var errs []error
	for _, path := range paths {
		f, err := importFile(path, kind)
		errs = append(errs, err)
		all = append(all, imported{beside(path), f})
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if out != "" {
		f, err := together(all)
		if err != nil {
			return err
		}
		all = []imported{{out, f}}
	}
	for _, i := range all {
		if err := anew(i.path, func(w io.Writer) error { return writeResult(w, i.file) }); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "written: %s\n", i.path)
		errs = append(errs, to.report(i.path))
	}
	return errors.Join(errs...)
}

// beside is where the result of path goes.
func beside(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".opcycle.json"
}

// importFile reads one file of another program, or a result of ours.
func importFile(path, kind string) (bench.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return bench.File{}, fmt.Errorf("import: %w", err)
	}
	k, err := imports.KindOf(data)
	if kind != "auto" {
		k, err = imports.FindKind(kind)
	}
	if err != nil {
		if ours, oerr := report.Read(bytes.NewReader(data)); oerr == nil && kind == "auto" {
			return importOurs(path, ours)
		}
		return bench.File{}, fmt.Errorf("%s: %w", path, err)
	}
	r, err := k.Read(path, data)
	if err != nil {
		return bench.File{}, err
	}
	if r.Imported == "" {
		r.Imported = k.Name
	}
	r.Label = filepath.Base(path)
	return fileOf([]bench.SuiteResult{r}, bench.Host{}), nil
}

// importOurs takes the suites of a result of ours.
func importOurs(path string, f bench.File) (bench.File, error) {
	if len(f.Suites) == 0 {
		return f, fmt.Errorf("%s: it is a result of ours without a suite; \"opcycle report\" and \"opcycle compare\" read it as it is", path)
	}
	for i := range f.Suites {
		r := &f.Suites[i]
		if r.Label == "" {
			r.Label = filepath.Base(filepath.Dir(path))
		}
		r.Files = nil // they are beside the other result
	}
	return fileOf(f.Suites, f.Host), nil
}

func fileOf(suites []bench.SuiteResult, h bench.Host) bench.File {
	f := bench.File{Schema: bench.Schema, Tool: tool(), Suite: "import", Host: h, Suites: suites, Complete: true}
	for _, r := range suites {
		f.Complete = f.Complete && r.Complete
		if !r.Started.IsZero() && (f.Started.IsZero() || r.Started.Before(f.Started)) {
			f.Started = r.Started
		}
		if r.Ended.After(f.Ended) {
			f.Ended = r.Ended
		}
	}
	return f
}

// together puts several results into one. It is of our host when all of ours are.
func together(all []imported) (bench.File, error) {
	var suites []bench.SuiteResult
	var host bench.Host
	seen := map[string]string{}
	for _, i := range all {
		for _, r := range i.file.Suites {
			name := r.Suite + ", " + r.Label
			if other := seen[name]; other != "" {
				return bench.File{}, fmt.Errorf("%s and %s both hold a result %q: they could not be told apart; rename a file or its folder", other, i.path, name)
			}
			seen[name] = i.path
			suites = append(suites, r)
		}
		switch h := i.file.Host; {
		case h.Name == "" || h.Name == host.Name && h.Kernel == host.Kernel:
		case host.Name == "":
			host = h
		default:
			return bench.File{}, fmt.Errorf("results of two machines or kernels (%s %s; %s %s) do not go into one; compare them with \"opcycle compare\"", host.Name, host.Kernel, h.Name, h.Kernel)
		}
	}
	return fileOf(suites, host), nil
}

// writeResult writes f in the form of run.json.
func writeResult(w io.Writer, f bench.File) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(f)
}

// anew writes a file that must not exist: by a temporary name beside it, so that what has
// its name is whole, and by a link, which replaces nothing.
func anew(path string, write func(io.Writer) error) (err error) {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(t.Name())
	if err = errors.Join(write(t), t.Chmod(0o644), t.Sync(), t.Close()); err == nil {
		err = os.Link(t.Name(), path)
	}
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists, and results are never overwritten: name another file with --out, or remove it", path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
