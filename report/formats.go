package report

import (
	"encoding/json"
	"fmt"
	"io"

	"opcycle/bench"
	"opcycle/judge"
)

// Format is one form of a report.
type Format struct {
	Name  string
	What  string // one line
	Write func(w io.Writer, f bench.File, v judge.Verdict, refs []bench.Reference) error
}

// Formats are the forms of a report, in the order of the help text.
func Formats() []Format {
	return []Format{
		{"text", "the vendor's table and everything below it", Text},
		{"html", "one page with pictures, for a browser and for print", HTML},
		{"png", "the histograms as one picture", PNG},
		{"markdown", "the same as GitHub-flavoured Markdown", Markdown},
		{"csv", "one figure a line: suite,object,series,statistic,value,unit; times in ns, unknown is empty",
			func(w io.Writer, f bench.File, _ judge.Verdict, _ []bench.Reference) error { return CSV(w, f) }},
		{"json", "result and verdict as JSON; opcycle schema prints its schema", JSON},
		{"junit", "JUnit XML, one case a budget", JUnit},
		{"benchstat", "Go benchmark lines, for benchstat", Benchstat},
		{"hgrm", "HdrHistogram percentile distributions of every series, in us", HGRM},
	}
}

// FormatNames are the names of Formats.
func FormatNames() []string {
	var out []string
	for _, f := range Formats() {
		out = append(out, f.Name)
	}
	return out
}

// FindFormat is the format of that name.
func FindFormat(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, noFormat(name, FormatNames())
}

func noFormat(name string, names []string) error {
	return fmt.Errorf("no format is called %q; %s", name, bench.Suggest(name, names))
}

// Judged is a result with what it came to, as the format json has it. Its schema is
// configs/result.schema.json.
type Judged struct {
	Verdict JudgedVerdict `json:"verdict"`
	Result  bench.File    `json:"result"`
}

// JudgedVerdict is the verdict in words and numbers.
type JudgedVerdict struct {
	Outcome  judge.Outcome  `json:"outcome"`
	ExitCode int            `json:"exit_code"`
	Valid    bool           `json:"valid"`
	Complete bool           `json:"complete"`
	Reasons  []string       `json:"reasons"`
	Text     string         `json:"text"`
	Budgets  []JudgedBudget `json:"budgets"`
}

// JudgedBudget is one budget with what the run has to say about it; values in Unit.
type JudgedBudget struct {
	Budget  string        `json:"budget"`
	Object  string        `json:"object,omitempty"` // whose figure decided it
	Outcome judge.Outcome `json:"outcome"`
	Value   *float64      `json:"value"`  // null: n/a
	Limit   float64       `json:"limit"`  //
	Margin  *float64      `json:"margin"` // room up to the limit, negative beyond it
	Unit    string        `json:"unit"`
	Why     string        `json:"why,omitempty"`
}

// JSON writes the result with its verdict.
func JSON(w io.Writer, f bench.File, v judge.Verdict, _ []bench.Reference) error {
	out := Judged{Result: f, Verdict: JudgedVerdict{Outcome: v.Outcome, ExitCode: v.ExitCode(), Valid: v.Valid, Complete: v.Complete,
		Reasons: append([]string{}, v.Reasons...), Text: v.Text, Budgets: []JudgedBudget{}}}
	for _, b := range v.Budgets {
		j := JudgedBudget{Budget: b.Budget.Text, Object: b.Object, Outcome: b.Outcome, Limit: b.Limit, Unit: b.Found.Unit, Why: b.Why}
		if b.Found.OK {
			j.Value, j.Margin = &b.Found.Value, &b.Margin
		}
		out.Verdict.Budgets = append(out.Verdict.Budgets, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
