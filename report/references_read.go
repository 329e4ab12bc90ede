package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"opcycle/bench"
	"opcycle/judge"
)

func referenceColumns() []string {
	return []string{"suite", "vendor", "product", "platform", "table", "run", "row", "object", "series", "statistic",
		"value", "unit", "conditions", "source", "date", "comparable_server", "comparable_client", "why"}
}

// mayBeEmpty are the columns in which nothing is said by an empty field: a cell that is
// blank in the source, and the object of a suite that has one only.
func mayBeEmpty(column string) bool { return column == "value" || column == "object" }

// ReadReferences reads every *.csv at the root of fsys, in the order of their names. All
// files have the same columns. A line that is not as it should be is an error with file
// and line; all are reported.
func ReadReferences(fsys fs.FS) ([]bench.Reference, error) {
	names, err := fs.Glob(fsys, "*.csv")
	if err != nil {
		return nil, fmt.Errorf("list the reference files: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("no reference file (*.csv) where the vendors' figures should be")
	}
	var out []bench.Reference
	var errs []error
	for _, name := range names {
		refs, err := readReferenceFile(fsys, name)
		out = append(out, refs...)
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

func readReferenceFile(fsys fs.FS, name string) ([]bench.Reference, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the reference file %s: %w", name, err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s:1: no head line: %w", name, err)
	}
	if !slices.Equal(head, referenceColumns()) {
		return nil, fmt.Errorf("%s:1: the columns are %q; write %q", name, strings.Join(head, ","), strings.Join(referenceColumns(), ","))
	}
	var out []bench.Reference
	var errs []error
	seen := map[string]int{}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, errors.Join(errs...)
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			return out, errors.Join(append(errs, fmt.Errorf("%s:%d: %w; nothing after it was read", name, bad.Line, bad.Err))...)
		}
		if err != nil {
			return out, errors.Join(append(errs, fmt.Errorf("read the reference file %s: %w", name, err))...)
		}
		line, _ := r.FieldPos(0)
		ref, err := reference(fields)
		if err == nil {
			err = once(seen, ref, line)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, line, err))
			continue
		}
		out = append(out, ref)
	}
}

// once refuses a second row, or machine name, of the same run of the same table.
func once(seen map[string]int, r bench.Reference, line int) error {
	run := strings.Join([]string{r.Suite, r.Vendor, r.Product, r.Table, r.Run, r.Platform, r.Conditions}, "\x00")
	row, figure := run+"\x00row\x00"+r.Row, run+"\x00"+r.Object+"\x00"+r.Series+"\x00"+r.Statistic
	if before, ok := seen[row]; ok {
		return fmt.Errorf("row %q stands already in line %d; remove one", r.Row, before)
	}
	if before, ok := seen[figure]; ok {
		return fmt.Errorf("figure %s stands already in line %d; remove one", machineName(r), before)
	}
	seen[row], seen[figure] = line, line
	return nil
}

// reference checks one line.
func reference(fields []string) (bench.Reference, error) {
	if want := len(referenceColumns()); len(fields) != want {
		return bench.Reference{}, fmt.Errorf("%d fields; write %d", len(fields), want)
	}
	for i, v := range fields {
		name := referenceColumns()[i]
		if strings.TrimSpace(v) != v {
			return bench.Reference{}, fmt.Errorf("%s %q begins or ends with a space; remove it", name, v)
		}
		if v == "" && !mayBeEmpty(name) {
			return bench.Reference{}, fmt.Errorf("%s is empty; write \"not stated\" for what the vendor does not say", name)
		}
	}
	r := bench.Reference{Suite: fields[0], Vendor: fields[1], Product: fields[2], Platform: fields[3], Table: fields[4],
		Run: fields[5], Row: fields[6], Object: fields[7], Series: fields[8], Statistic: fields[9], Value: fields[10],
		Unit: fields[11], Conditions: fields[12], Source: fields[13], Date: fields[14],
		ComparableServer: fields[15], ComparableClient: fields[16], Why: fields[17]}
	words := []string{judge.Yes, "topology", "definition", inconsistent, unknown}
	for _, w := range []string{r.ComparableServer, r.ComparableClient} {
		if !slices.Contains(words, w) {
			return r, fmt.Errorf("%q says nothing about comparability; write one of %s", w, strings.Join(words, ", "))
		}
	}
	if err := checkName(r); err != nil {
		return r, err
	}
	return r, checkValue(r)
}

const (
	inconsistent = "inconsistent"
	unknown      = "unknown"
)

// checkValue refuses a value that is no number and not marked as such: so a slip of the
// file's author is told from a misprint of the source.
func checkValue(r bench.Reference) error {
	n := r.Number()
	if n.OK {
		return nil
	}
	allowed := []string{unknown}
	switch n.NA {
	case bench.MisprintedCell:
		allowed = []string{inconsistent}
	case bench.TextCell:
		allowed = []string{unknown, inconsistent}
	}
	if !slices.Contains(allowed, r.ComparableServer) || !slices.Contains(allowed, r.ComparableClient) {
		return fmt.Errorf("the published value %q of %q: %s; correct it, or mark both topologies %s",
			r.Value, r.Row, n.NA, strings.Join(allowed, " or "))
	}
	return nil
}
