package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/judge"
	"opcycle/report"

	"github.com/spf13/cobra"
)

// outputs is where a report goes and in which forms.
type outputs struct {
	stdout io.Writer
	plain  *report.Format // on stdout; nil: text
	files  []formatFile

	against string // the only publication beside the result; empty: all

	name   func(*bench.Host) // names the machine; nil: by its host name
	below  string            // what the result's folder is in, for after; empty: nothing
	single string            // why it takes one result only; empty: it takes several
	// after is called with the reported result's folder; nil: nothing.
	after func(dir, below string, said error) error
}

// formatFile is a form with its file.
type formatFile struct {
	format report.Format
	path   string
}

// formatFlag declares --format.
func formatFlag(cmd *cobra.Command) *[]string { return formatFlagOf(cmd, report.FormatNames()) }

// formatFlagOf declares --format with the names of its forms.
func formatFlagOf(cmd *cobra.Command, names []string) *[]string {
	return cmd.Flags().StringArray("format", nil, "form of the report, FORMAT for standard output or FORMAT=PATH for a file; repeatable ("+
		strings.Join(names, ", ")+")")
}

// formatHelp lists the forms for a help text.
func formatHelp() string {
	var b strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&b, "  %-10s %s\n", f.Name, f.What)
	}
	return b.String()
}

// readOutputs reads the values of --format. It refuses what could only fail after the run:
// an unknown form, two for standard output, a folder that is not there.
func readOutputs(stdout io.Writer, values []string) (outputs, error) {
	o := outputs{stdout: stdout}
	err := readForms(values, report.FindFormat, func(f report.Format) { o.plain = &f },
		func(f report.Format, path string) { o.files = append(o.files, formatFile{f, path}) })
	return o, err
}

// readForms reads the values of --format for forms that find knows.
func readForms[F any](values []string, find func(string) (F, error), plain func(F), file func(F, string)) error {
	var errs []error
	first := ""
	for _, value := range values {
		name, path, toFile := strings.Cut(value, "=")
		f, err := find(name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("--format %s: %w", value, err))
		case !toFile && first != "":
			errs = append(errs, fmt.Errorf("--format %s: %s goes to standard output already; give one of them a file, %s=PATH", value, first, name))
		case !toFile:
			first = name
			plain(f)
		default:
			errs = append(errs, writable(value, path))
			file(f, path)
		}
	}
	return errors.Join(errs...)
}

func writable(value, path string) error {
	if path == "" {
		return fmt.Errorf("--format %s: no file is named; write %sPATH", value, value)
	}
	if s, err := os.Stat(filepath.Dir(path)); err != nil || !s.IsDir() {
		return fmt.Errorf("--format %s: there is no folder %s; make it first", value, filepath.Dir(path))
	}
	if s, err := os.Stat(path); err == nil && s.IsDir() {
		return fmt.Errorf("--format %s: %s is a folder; name a file", value, path)
	}
	return nil
}

// report prints the result at path in every form and returns its verdict as an error.
func (o outputs) report(path string) error {
	file, err := readResult(path)
	if err != nil {
		return err
	}
	return o.write(file)
}

// write prints file in every form and returns its verdict as an error.
func (o outputs) write(file bench.File) error {
	v := judge.Judge(file)
	refs, err := references(o.against)
	if err != nil {
		return err
	}
	var errs []error
	for _, out := range o.files {
		errs = append(errs, whole(out.path, func(w io.Writer) error { return out.format.Write(w, file, v, refs) }))
	}
	plain := report.Text
	if o.plain != nil {
		plain = o.plain.Write
	}
	if err := errors.Join(append(errs, plain(o.stdout, file, v, refs))...); err != nil {
		return err
	}
	if code := v.ExitCode(); code != exitPass {
		return verdict{code}
	}
	return nil
}

// references are the published figures, or those of one product.
func references(against string) ([]bench.Reference, error) {
	refs, err := report.ReadReferences(configs.References())
	if err != nil || against == "" {
		return refs, err
	}
	if refs, err = report.Against(refs, against); err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	return refs, nil
}

// againstFlag declares --against.
func againstFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("against", "", "stand beside this publication only, by a part of its name, as codesys (opcycle references lists them)")
}

// whole writes a file by a temporary name beside it: what has its name is whole.
func whole(path string, write func(io.Writer) error) (err error) {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = write(t)
	err = errors.Join(err, t.Chmod(0o644), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		_ = os.Remove(t.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
