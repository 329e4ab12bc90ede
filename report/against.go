package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// Product is the name by which a publication is chosen: vendor and product in small letters
// with dashes, "intel-codesys-opc-ua-client-benchmark".
func Product(r bench.Reference) string {
	return strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(r.Vendor+" "+r.Product), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-"), "-")
}

// Products are the names of all publications, in their order.
func Products(refs []bench.Reference) []string {
	var out []string
	for _, r := range refs {
		if p := Product(r); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Against are the rows of the product that name means: its whole name, or a part of one
// product's only.
func Against(refs []bench.Reference, name string) ([]bench.Reference, error) {
	all := Products(refs)
	found := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !strings.Contains(p, strings.ToLower(name)) })
	if slices.Contains(all, name) {
		found = []string{name}
	}
	switch {
	case name == "" || len(found) == 0:
		return nil, fmt.Errorf("nothing published is called %q; opcycle references lists it: %s", name, strings.Join(all, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("%q can be %s; write one of them", name, strings.Join(found, " or "))
	}
	return slices.DeleteFunc(slices.Clone(refs), func(r bench.Reference) bool { return Product(r) != found[0] }), nil
}

// Against writes a run beside one publication: what was measured differently first, then its
// table with this run and the differences that may be printed. refs are of that publication.
func (c CompareFormat) Against(w io.Writer, f bench.File, v judge.Verdict, refs []bench.Reference) error {
	if err := hasRowsFor(&f, refs); err != nil {
		return err
	}
	if f.Suite != bench.SuiteOPCUA && (c.Name == "json" || c.Name == "csv") {
		return fmt.Errorf("a suite's figures stand beside the vendor's in its own table; take text, html or markdown, or the figures alone from opcycle report --format %s", c.Name)
	}
	switch c.Name {
	case "json":
		return againstJSON(w, f, refs)
	case "csv":
		return againstCSV(w, f, refs)
	}
	p := &printer{w: w}
	if c.Name == "markdown" {
		p.form = asMarkdown
	}
	if c.Name == "html" {
		p = newPage(w, pageTitle(&f)+" against "+refs[0].Vendor+", "+refs[0].Product)
		headline(p, &f, &v)
	} else {
		p.line("%s: %s", v.Outcome, v.Text)
	}
	if f.Suite == bench.SuiteOPCUA {
		vendor(p, &f, refs)
	} else {
		suites(p, &f, refs)
	}
	if c.Name == "html" {
		return p.endPage()
	}
	return p.err
}

// hasRowsFor refuses a publication that has nothing of what the file measured.
func hasRowsFor(f *bench.File, refs []bench.Reference) error {
	measured := []string{f.Suite}
	for i := range f.Suites {
		measured = append(measured, f.Suites[i].Suite)
	}
	var published []string
	for _, r := range refs {
		if slices.Contains(measured, r.Suite) {
			return nil
		}
		if !slices.Contains(published, r.Suite) {
			published = append(published, r.Suite)
		}
	}
	return fmt.Errorf("%s publishes figures of %s, this is a result of %s", Product(refs[0]), strings.Join(published, ", "), strings.Join(measured, ", "))
}

// conditions are what this run and the vendor's were measured under, side by side: what a
// reader has to know before he reads a difference.
func conditions(p *printer, f *bench.File, group []bench.Reference) {
	first := group[0]
	hardware, system, _ := strings.Cut(first.Platform, "; ")
	cycles := "not published"
	for _, r := range group {
		if n := r.Number(); n.OK && r.Series == "packets" && r.Statistic == "total" {
			cycles = fmt.Sprintf("about %s cycles", judge.Group(int64(n.Value)))
		}
	}
	t := f.Plan.Task
	here := fmt.Sprintf("%s, kernel %s, %s", orNA(f.Host.OS), orNA(f.Host.Kernel), orNA(f.Host.Preempt))
	if f.Host.Container != "" {
		here += ", in a container (" + f.Host.Container + ")"
	}
	rows := [][]string{
		{"platform", fmt.Sprintf("%s, %d CPUs", orNA(f.Host.CPUModel), len(f.Host.CPUs)), hardware},
		{"system", here, orNA(system)},
		{"duration", fmt.Sprintf("%s, %s cycles", judge.Span(f.Plan.Duration), judge.Group(f.Phase.Ran)), cycles},
		{"task", fmt.Sprintf("plc.host %s; cycle %s; %s, %s iterations; %d monitored item(s)", t.Host, judge.Span(t.Interval), t.Workload, judge.Group(iterations(f)), f.Plan.OPCUA.Items), first.Conditions},
		{"beside it", f.Plan.Switches(), "as his task's line says"},
	}
	if p.form != asText {
		if p.form == asHTML { // sentences, that wrap on a narrow screen
			p.raw("<div class=\"sentences\">")
			defer p.raw("</div>")
		}
		p.table([]string{"Conditions", "this run", "vendor"}, map[int]tw.Align{1: tw.AlignLeft, 2: tw.AlignLeft}, rows)
		return
	}
	for _, r := range rows { // both would not fit beside each other
		p.item(fmt.Sprintf("%-10s", r[0])+"here   ", r[1])
		p.item(strings.Repeat(" ", 10)+"vendor ", r[2])
	}
}

// besideRow is a vendor's row beside a run, for other programs.
type besideRow struct {
	Table      string   `json:"table"`
	Run        string   `json:"run"`
	Row        string   `json:"row"`
	Object     string   `json:"object"`
	Series     string   `json:"series"`
	Statistic  string   `json:"statistic"`
	Ours       *float64 `json:"ours"`   // null: n/a
	Vendor     string   `json:"vendor"` // as printed
	VendorUnit string   `json:"vendor_unit"`
	Difference *float64 `json:"difference"` // null: none may be printed
	Unit       string   `json:"unit"`       // of ours; of a difference "share": of the cycle
	Word       string   `json:"word"`       // yes, or why there is no difference
	Why        string   `json:"why"`
	Platform   string   `json:"platform"`
	Conditions string   `json:"conditions"`
	Source     string   `json:"source"`
}

// besideRows are the rows of a publication beside an OPC UA run.
func besideRows(f bench.File, refs []bench.Reference) []besideRow {
	out := []besideRow{}
	for _, b := range judge.Comparable(f, refs) {
		r := b.Reference
		row := besideRow{Table: r.Table, Run: r.Run, Row: r.Row, Object: r.Object, Series: r.Series, Statistic: r.Statistic, Vendor: r.Value, VendorUnit: r.Unit,
			Unit: b.Found.Unit, Word: b.Word, Why: b.Why, Platform: r.Platform, Conditions: r.Conditions, Source: r.Source}
		if b.Found.OK {
			row.Ours = &b.Found.Value
		}
		if b.Word == judge.Yes {
			row.Difference = &b.Difference
			if b.Unit == "share" {
				row.Unit = b.Unit
			}
		}
		out = append(out, row)
	}
	return out
}

func againstJSON(w io.Writer, f bench.File, refs []bench.Reference) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	err := enc.Encode(struct {
		Schema int         `json:"schema"`
		Host   string      `json:"host"`
		Rows   []besideRow `json:"rows"`
	}{compareSchema, f.Host.Name, besideRows(f, refs)})
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

func againstCSV(w io.Writer, f bench.File, refs []bench.Reference) error {
	rows := [][]string{{"table", "run", "row", "object", "series", "statistic", "ours", "vendor", "vendor_unit", "difference", "unit", "word", "why"}}
	for _, r := range besideRows(f, refs) {
		rows = append(rows, []string{r.Table, r.Run, r.Row, r.Object, r.Series, r.Statistic, exact(r.Ours), r.Vendor, r.VendorUnit, exact(r.Difference), r.Unit, r.Word, r.Why})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}
