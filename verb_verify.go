package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/judge"
	"opcycle/record"
	"opcycle/report"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

func verifyVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE | FOLDER...",
		Short: "check that a result is whole and agrees with itself",
		Long: `verify holds a result (run.json) against the published schema (opcycle schema), then against
itself: histograms that decode and hold as many values as their series, counts and causes
that add up, a cycles.bin beside it that is a whole number of records, files that it names.

Exit codes: 0 every file is whole, 2 not. An invalid or failed run can be a whole result.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var errs []error
			for _, path := range args {
				err := verify(path)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: whole\n", path)
				}
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		},
	}
}

func schemaVerb() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "print the JSON Schema of a result", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(configs.Schema())
			return err
		},
	}
}

// verify is everything that is wrong with the result at path.
func verify(path string) error {
	path, err := resultIn(path)
	if err != nil {
		return err
	}
	if filepath.Base(path) == repeatName {
		return verifyRepeat(path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("open the result: %w", err)
	}
	f, err := report.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var errs []error
	if f.Schema == bench.Schema { // an older one may lack what this one requires
		errs = append(errs, againstSchema(data))
	}
	errs = append(errs, histograms(f.Series))
	for _, r := range f.Suites {
		errs = append(errs, histograms(r.Series), besides(filepath.Dir(path), r.Files))
	}
	if len(f.Invalid) == 0 { // else the run itself says why it does not add up
		for _, why := range judge.Reasons(f) {
			errs = append(errs, errors.New(why))
		}
	}
	if f.Cycles != "" {
		errs = append(errs, wholeRecords(filepath.Join(filepath.Dir(path), f.Cycles)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s is not whole: %w", path, err)
	}
	return nil
}

func againstSchema(data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(configs.Schema()))
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("result.schema.json", doc); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	s, err := c.Compile("result.schema.json")
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(instance)
}

// histograms holds the count of each series against its histograms.
func histograms(series []bench.Series) error {
	var errs []error
	for i := range series {
		s := &series[i]
		pos, neg, err := s.Histograms()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n := s.Underflow + s.Overflow
		if pos != nil {
			n += pos.TotalCount()
		}
		if neg != nil {
			n += neg.TotalCount()
		}
		if n != s.Count {
			errs = append(errs, fmt.Errorf("series %s of %s: %d values in its histograms, count %d", s.Name, s.Object, n, s.Count))
		}
	}
	return errors.Join(errs...)
}

func besides(dir string, files []string) error {
	var errs []error
	for _, name := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			errs = append(errs, fmt.Errorf("a file of the result: %w", err))
		}
	}
	return errors.Join(errs...)
}

// wholeRecords checks that the file of all records holds whole ones.
func wholeRecords(path string) error {
	s, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the file of all records: %w; copy it with run.json", err)
	}
	if s.Size()%record.Size != 0 {
		return fmt.Errorf("%s is cut off: %d bytes are no whole number of records of %d", path, s.Size(), record.Size)
	}
	return nil
}
