package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/judge"
)

// Fleet is the ranking of a fleet's nodes in one form.
func (f CompareFormat) Fleet(w io.Writer, nodes []judge.Node, left []judge.Left) error {
	switch f.Name {
	case "json":
		return fleetJSON(w, nodes, left)
	case "csv":
		return fleetCSV(w, nodes, left)
	case "html":
		p := newPage(w, toolName+": nodes of a fleet")
		fleet(p, nodes, left)
		return p.endPage()
	case "markdown":
		p := &printer{w: w, form: asMarkdown}
		fleet(p, nodes, left)
		return p.err
	}
	p := &printer{w: w}
	fleet(p, nodes, left)
	return p.err
}

func fleet(p *printer, nodes []judge.Node, left []judge.Left) {
	p.line("%d node(s) ranked, %d run(s) not", len(nodes), len(left))
	var notes footnotes
	var body [][]string
	for i := range nodes {
		n := &nodes[i]
		apart := string(n.Apart)
		if n.Why != "" {
			apart += " " + notes.mark(n.Why)
		}
		body = append(body, []string{strconv.Itoa(n.Rank), n.Name, strconv.Itoa(n.Runs), string(n.Outcome), fmt.Sprintf("%s of %s", judge.Group(n.Lost), judge.Group(n.Ran)),
			unlessNaN(n.Share, func(v float64) string { return fmt.Sprintf("%.1f %%", v*100) }), unlessNaN(n.Start, func(v float64) string { return micros(v, 1) }), apart})
	}
	if len(body) > 0 {
		p.section("Nodes, the best first")
		p.table([]string{"rank", "node", "runs", "outcome", "late or missed", "execution p99, of T", "start latency p99, µs", "than the one before"},
			map[int]tw.Align{0: tw.AlignRight, 1: tw.AlignLeft, 3: tw.AlignLeft, 7: tw.AlignLeft}, body)
		notes.print(p)
		p.item("", "By outcome, then by the share of cycles lost, then by the p99 of the execution time, then of the start latency; of several runs the sums and the medians. "+
			"The last column tests what times alone decided: a rank without \"worse\" there is of these runs, not a proven difference.")
	}
	if len(left) > 0 {
		p.section("Not ranked")
		for _, l := range left {
			p.item("  - ", fmt.Sprintf("%s (%s): %s", l.Node, l.Run, l.Why))
		}
	}
}

func unlessNaN(v float64, text func(float64) string) string {
	if math.IsNaN(v) {
		return "n/a"
	}
	return text(v)
}

func fleetJSON(w io.Writer, nodes []judge.Node, left []judge.Left) error {
	type node struct {
		Rank    int            `json:"rank"`
		Node    string         `json:"node"`
		Runs    int            `json:"runs"`
		Outcome judge.Outcome  `json:"outcome"`
		Ran     int64          `json:"cycles"`
		Lost    int64          `json:"late_or_missed"`
		Share   *float64       `json:"execution_time_p99_share"` // of the cycle; null: n/a
		Start   *float64       `json:"start_latency_p99"`        // ns; null: n/a
		Apart   judge.Compared `json:"than_the_one_before"`      // empty: outcome or losses decide, or the first
		Why     string         `json:"why"`
	}
	type run struct {
		Node string `json:"node"`
		Run  string `json:"run"`
		Why  string `json:"why"`
	}
	out := struct {
		Schema int    `json:"schema"`
		Nodes  []node `json:"nodes"`
		Left   []run  `json:"not_ranked"`
	}{compareSchema, []node{}, []run{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, node{n.Rank, n.Name, n.Runs, n.Outcome, n.Ran, n.Lost, finite(n.Share), finite(n.Start), n.Apart, n.Why})
	}
	for _, l := range left {
		out.Left = append(out.Left, run(l))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

func fleetCSV(w io.Writer, nodes []judge.Node, left []judge.Left) error {
	rows := [][]string{{"rank", "node", "runs", "outcome", "cycles", "late_or_missed", "execution_time_p99_share", "start_latency_p99_ns", "than_the_one_before", "why"}}
	for _, n := range nodes {
		rows = append(rows, []string{strconv.Itoa(n.Rank), n.Name, strconv.Itoa(n.Runs), string(n.Outcome), strconv.FormatInt(n.Ran, 10), strconv.FormatInt(n.Lost, 10),
			exact(finite(n.Share)), exact(finite(n.Start)), string(n.Apart), n.Why})
	}
	for _, l := range left {
		rows = append(rows, []string{"", l.Node, "", "", "", "", "", "", "", l.Run + ": " + l.Why})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}
