package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"opcycle/bench"
	"opcycle/judge"
)

// CSV writes the long form: one figure a row, times in ns, counts in 1, unknown empty.
// run.valid is 1 or 0 by the verdict, not by what the run knew of itself when it ended.
func CSV(w io.Writer, f bench.File) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"suite", "object", "series", "statistic", "value", "unit"}}
	valid := "0"
	if len(judge.Reasons(f)) == 0 {
		valid = "1"
	}
	rows = append(rows, []string{f.Suite, "", "run", "valid", valid, "1"})
	rows = append(rows, figureRows(&f, f.Figures)...)
	for i := range f.Series {
		rows = append(rows, seriesRows(&f.Series[i])...)
	}
	for i := range f.Suites {
		rows = append(rows, suiteRows(&f, &f.Suites[i])...)
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func figureRows(f *bench.File, figures []bench.Figure) [][]string {
	var rows [][]string
	for _, g := range figures {
		if g.Series == "run" && g.Statistic == "valid" {
			continue
		}
		value := g.Text
		if g.Unit != "text" {
			value = number(judge.Known(f, &g))
		}
		rows = append(rows, []string{g.Suite, g.Object, g.Series, g.Statistic, value, g.Unit})
	}
	return rows
}

func seriesRows(s *bench.Series) [][]string {
	var rows [][]string
	for _, statistic := range seriesStatistics() {
		r := judge.Statistic(s, statistic)
		unit := r.Unit
		if unit == "" { // a quantile that this series does not have
			unit = s.Unit
		}
		rows = append(rows, []string{s.Suite, s.Object, s.Name, statistic, number(r), unit})
	}
	return rows
}

// seriesStatistics are the statistics that every series has.
func seriesStatistics() []string { return bench.Statistics("execution_time") }

func number(f judge.Found) string {
	if !f.OK {
		return ""
	}
	return strconv.FormatFloat(f.Value, 'f', -1, 64)
}
