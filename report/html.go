package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

//go:embed html.css
var stylesheet string

// HTML writes one page that needs nothing beside it: the verdict, the vendor's table,
// pictures of this run, and everything that Text writes. It has no script and asks for
// nothing over a network.
func HTML(w io.Writer, f bench.File, v judge.Verdict, refs []bench.Reference) error {
	p := &printer{w: w, form: asHTML}
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
	p.raw("<link rel=\"icon\" href=\"data:,\">") // else a browser asks for one
	p.raw("<title>" + html.EscapeString(pageTitle(&f)) + "</title>\n<style>\n" + stylesheet + "</style>\n</head>\n<body>")
	p.raw("<h1>" + html.EscapeString(pageTitle(&f)) + "</h1>")
	headline(p, &f, &v)
	if f.Suite == bench.SuiteOPCUA {
		page(p, &f, &v, refs)
	} else {
		suites(p, &f, refs)
		suiteHost(p, &f.Host)
		allFound(p, &f)
	}
	effectivePlan(p, &f)
	p.raw("</body>\n</html>")
	return p.err
}

func pageTitle(f *bench.File) string {
	s := toolName + ": " + f.Suite
	if f.Plan.Name != "" {
		s = toolName + ": " + f.Plan.Name
	}
	if f.Host.Name != "" {
		s += " on " + f.Host.Name
	}
	return s
}

// headline is the verdict, in words that need no colour.
func headline(p *printer, f *bench.File, v *judge.Verdict) {
	p.raw(fmt.Sprintf("<div class=\"verdict %s\" role=\"status\"><b>%s</b>: %s", v.Outcome, v.Outcome, html.EscapeString(v.Text)))
	if !f.Started.IsZero() {
		p.raw(fmt.Sprintf("<br><small>measured %s, %s %s</small>", f.Started.UTC().Format("2006-01-02 15:04 UTC"), html.EscapeString(f.Tool.Name), html.EscapeString(orNA(f.Tool.Version))))
	}
	for _, r := range v.Reasons {
		p.raw("<br>" + html.EscapeString(r))
	}
	p.raw("</div>")
}

// page is the report of an OPC UA run: what a customer looks at first, then the rest.
func page(p *printer, f *bench.File, v *judge.Verdict, refs []bench.Reference) {
	validity(p, f, v)
	budgets(p, v)
	vendor(p, f, refs)
	pictures(p, f)
	rows(p, f)
	tails(p, f)
	packets(p, f)
	clients(p, f)
	thieves(p, f)
	abnormal(p, f)
	p.section("Machine")
	suiteMachine(p, &f.Host)
	processes(p, f)
	others(p, f)
	suites(p, f, refs)
	allFound(p, f)
	remarks(p, f)
}

// effectivePlan is everything that the run was asked for, key by key.
func effectivePlan(p *printer, f *bench.File) {
	if p.err != nil || f.Plan.Name == "" && f.Plan.Cycles == 0 {
		return
	}
	data, err := json.MarshalIndent(f.Plan, "", "  ")
	if err != nil {
		p.err = fmt.Errorf("write the plan: %w", err)
		return
	}
	p.raw("<details><summary>Effective plan</summary>")
	p.pre(string(data))
	p.raw("</details>")
}

// htmlTable is table in HTML, in a box that scrolls by itself on a narrow screen.
func htmlTable(w io.Writer, head []string, align map[int]tw.Align, rows [][]string) error {
	class := func(i int) string {
		if a, ok := align[i]; ok && a == tw.AlignLeft || !ok && i == 0 {
			return "l"
		}
		return "r"
	}
	var b strings.Builder
	b.WriteString("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>")
	for i, h := range head {
		fmt.Fprintf(&b, "<th scope=\"col\" class=\"%s\">%s</th>", class(i), html.EscapeString(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range rows {
		b.WriteString("<tr>")
		for i, c := range r {
			fmt.Fprintf(&b, "<td class=\"%s\">%s</td>", class(i), html.EscapeString(c))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
