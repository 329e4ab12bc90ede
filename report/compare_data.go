package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"opcycle/judge"
)

// compareSchema is the version of the JSON that compareJSON writes.
const compareSchema = 1

// comparedFile is what the form json of a comparison holds. Times are in ns.
type comparedFile struct {
	Schema      int            `json:"schema"`
	Comparisons []comparedPair `json:"comparisons"`
}

type comparedPair struct {
	Base        comparedSide         `json:"base"`
	Other       comparedSide         `json:"other"`
	Outcome     judge.Compared       `json:"outcome"` // better, worse, same, can't tell
	Why         string               `json:"why"`
	Refused     []string             `json:"refused"` // why nothing is compared
	LeftOut     []string             `json:"left_out"`
	Differences []comparedDifference `json:"differences"`
	Rows        []comparedJSON       `json:"rows"`
}

type comparedSide struct {
	Name string   `json:"name"`
	Runs []string `json:"runs"`
}

type comparedDifference struct {
	Kind  string `json:"kind"` // plan or machine
	Key   string `json:"key"`
	Base  string `json:"base"`
	Other string `json:"other"`
}

type comparedJSON struct {
	Object    string         `json:"object"`
	Series    string         `json:"series"`
	Statistic string         `json:"statistic"`
	Base      float64        `json:"base"`
	Other     float64        `json:"other"`
	Effect    float64        `json:"effect"`  // other - base
	Low       *float64       `json:"low"`     // of its 95 % interval; null: not known
	High      *float64       `json:"high"`    // likewise
	P         *float64       `json:"p"`       // null: no test was made
	Primary   bool           `json:"primary"` // counts for the outcome
	Outcome   judge.Compared `json:"outcome"`
	Why       string         `json:"why"`
}

func compareJSON(w io.Writer, pairs []Pair) error {
	f := comparedFile{Schema: compareSchema, Comparisons: []comparedPair{}}
	for i := range pairs {
		c := &pairs[i].Is
		x := comparedPair{Base: sideJSON(&pairs[i].Base, c.Base), Other: sideJSON(&pairs[i].Other, c.Other), Outcome: c.Outcome, Why: c.Why,
			Refused: orEmpty(c.Refused), LeftOut: orEmpty(c.LeftOut), Differences: []comparedDifference{}, Rows: []comparedJSON{}}
		for _, d := range c.Differences {
			x.Differences = append(x.Differences, comparedDifference(d))
		}
		for _, r := range c.Rows {
			x.Rows = append(x.Rows, comparedJSON{r.Object, r.Series, r.Statistic, r.Base, r.Other, r.Effect, finite(r.Low), finite(r.High), r.P, r.Primary, r.Outcome, r.Why})
		}
		f.Comparisons = append(f.Comparisons, x)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

func sideJSON(s *judge.Side, name string) comparedSide {
	out := comparedSide{Name: name, Runs: []string{}}
	for i := range s.Runs {
		out.Runs = append(out.Runs, s.Runs[i].Name)
	}
	return out
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// finite is v, or nil where an end of an interval is not known.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

func compareCSV(w io.Writer, pairs []Pair) error {
	rows := [][]string{{"base", "other", "object", "series", "statistic", "base_ns", "other_ns", "effect_ns", "low_ns", "high_ns", "p", "primary", "outcome", "why"}}
	for i := range pairs {
		c := &pairs[i].Is
		if len(c.Refused) > 0 {
			rows = append(rows, []string{c.Base, c.Other, "", "", "", "", "", "", "", "", "", "", string(c.Outcome), c.Why})
		}
		for _, r := range c.Rows {
			rows = append(rows, []string{c.Base, c.Other, r.Object, r.Series, r.Statistic, exact(&r.Base), exact(&r.Other), exact(&r.Effect),
				exact(finite(r.Low)), exact(finite(r.High)), exact(r.P), strconv.FormatBool(r.Primary), string(r.Outcome), r.Why})
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// exact is a number for another program; nil, which is not known, is empty.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
