package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

func referenceColumns() []string {
	return []string{"vendor", "product", "platform", "row", "series", "statistic", "value", "unit", "conditions",
		"source", "date", "comparable_server", "comparable_client", "why"}
}

// ReadReferences reads every *.csv at the root of fsys, in the order of their names. A
// line that is not as it should be is an error with file and line; all are reported.
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
		key := strings.Join([]string{ref.Vendor, ref.Product, ref.Platform, ref.Conditions, ref.Row}, "\x00")
		if before, ok := seen[key]; ok && err == nil {
			err = fmt.Errorf("row %q stands already in line %d; remove one", ref.Row, before)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, line, err))
			continue
		}
		seen[key] = line
		out = append(out, ref)
	}
}

// reference checks one line.
func reference(fields []string) (bench.Reference, error) {
	if want := len(referenceColumns()); len(fields) != want {
		return bench.Reference{}, fmt.Errorf("%d fields; write %d", len(fields), want)
	}
	for i, v := range fields {
		if strings.TrimSpace(v) == "" {
			return bench.Reference{}, fmt.Errorf("%s is empty; write \"not stated\" for what the vendor does not say", referenceColumns()[i])
		}
	}
	r := bench.Reference{Vendor: fields[0], Product: fields[1], Platform: fields[2], Row: fields[3], Series: fields[4],
		Statistic: fields[5], Value: fields[6], Unit: fields[7], Conditions: fields[8], Source: fields[9], Date: fields[10],
		ComparableServer: fields[11], ComparableClient: fields[12], Why: fields[13]}
	words := []string{judge.Yes, "topology", "definition", "inconsistent", "unknown"}
	for _, w := range []string{r.ComparableServer, r.ComparableClient} {
		if !slices.Contains(words, w) {
			return r, fmt.Errorf("%q says nothing about comparability; write one of %s", w, strings.Join(words, ", "))
		}
	}
	if !slices.Contains(bench.Statistics(r.Series), r.Statistic) {
		return r, fmt.Errorf("no figure is called %s.%s; use the names at the end of metrics.md", r.Series, r.Statistic)
	}
	_, err := judge.Published(r)
	return r, err
}

// References lists the vendors' figures, each with its word of comparability for either
// plc.host: the verb references.
func References(w io.Writer, refs []bench.Reference) error {
	p := &printer{w: w}
	for i, group := range publications(refs) {
		if i > 0 {
			p.line("")
		}
		first := group[0]
		p.line("%s: %s", first.Vendor, first.Product)
		p.item("platform: ", first.Platform)
		p.item("conditions: ", first.Conditions)
		p.item("source: ", fmt.Sprintf("%s; date: %s", first.Source, first.Date))
		p.line("")
		var notes footnotes
		var rows [][]string
		for _, r := range group {
			mark := notes.mark(r.Why)
			rows = append(rows, []string{r.Row + unitOf(r), r.Value, r.ComparableServer, r.ComparableClient, mark})
		}
		p.table([]string{"Row", "value", "comparable: server", "client", "why"},
			map[int]tw.Align{2: tw.AlignLeft, 3: tw.AlignLeft, 4: tw.AlignLeft}, rows)
		p.line("")
		notes.print(p)
	}
	return p.err
}

// unitOf is the unit behind a row's name, as the vendor prints it.
func unitOf(r bench.Reference) string {
	if r.Unit == "us" {
		return " (µs)"
	}
	return ""
}

// publications groups rows that were published together, in the order of the first of each.
func publications(refs []bench.Reference) [][]bench.Reference {
	var out [][]bench.Reference
	at := map[string]int{}
	for _, r := range refs {
		key := strings.Join([]string{r.Vendor, r.Product, r.Platform, r.Conditions}, "\x00")
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out
}
