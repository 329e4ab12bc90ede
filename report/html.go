package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

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
	p := newPage(w, pageTitle(&f))
	headline(p, &f, &v)
	if f.Suite == bench.SuiteOPCUA {
		page(p, &f, &v, refs)
	} else {
		suitePage(p, &f, &v, refs)
	}
	return p.endPage()
}

// newPage begins a page.
func newPage(w io.Writer, title string) *printer {
	p := &printer{w: w, form: asHTML}
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
	p.raw("<link rel=\"icon\" href=\"data:,\">") // else a browser asks for one
	p.raw("<title>" + html.EscapeString(title) + "</title>\n<style>\n" + stylesheet + "</style>\n</head>\n<body>")
	p.raw("<h1>" + html.EscapeString(title) + "</h1>")
	return p
}

func (p *printer) endPage() error {
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
	nodes(p, f)
	pictures(p, f)
	rows(p, f)
	tails(p, f)
	packets(p, f)
	clients(p, f)
	thieves(p, f)
	abnormal(p, f)
	suites(p, f, refs)
	suitePictures(p, f)
	machine(p, &f.Host)
	allFound(p, f)
	processes(p, f)
	others(p, f)
	effectivePlan(p, f)
	remarks(p, f)
}

// suitePage is the report of a file without an OPC UA run.
func suitePage(p *printer, f *bench.File, v *judge.Verdict, refs []bench.Reference) {
	budgets(p, v)
	if f.Suite == suiteCampaign {
		campaign(p, f)
	}
	suites(p, f, refs)
	suitePictures(p, f)
	machine(p, &f.Host)
	allFound(p, f)
	settings(p, f)
	suiteEnd(p, f)
}

// suitePictures are the histograms of what suites measured, and their values over time.
func suitePictures(p *printer, f *bench.File) {
	begun := false
	for i := range f.Suites {
		r := &f.Suites[i]
		for j := range r.Series {
			s := &r.Series[j]
			if s.Count == 0 {
				continue
			}
			if !begun {
				p.section("Histograms of the suites")
				begun = true
			}
			p.raw("<div class=\"plots\">")
			label := judge.Title(r) + ": " + s.Object + " " + s.Name
			p.histograms(label, s)
			p.raw("</div>")
			if n := len(s.Blocks); n > 1 {
				last := s.Blocks[n-1]
				p.timeline(label, s, nil, float64(last.Second+last.Length()), 0)
			}
		}
	}
}

// effectivePlan is everything that the run was asked for, key by key.
func effectivePlan(p *printer, f *bench.File) {
	if p.err != nil || f.Plan.Name == "" && f.Plan.Cycles == 0 {
		return
	}
	p.section("Effective plan")
	p.raw("<details><summary>Every key as in effect, after defaults and what was found on this machine</summary>")
	p.table([]string{"key", "value"}, map[int]tw.Align{1: tw.AlignLeft}, planRows(f.Plan))
	p.raw("</details>")
}

// settings are the options of every suite as in effect.
func settings(p *printer, f *bench.File) {
	var body [][]string
	for i := range f.Suites {
		r := &f.Suites[i]
		for _, s := range r.Settings {
			body = append(body, []string{judge.Title(r), s.Name, s.Value})
		}
	}
	if len(body) == 0 {
		return
	}
	p.section("Effective plan")
	p.raw("<details><summary>Every option as in effect</summary>")
	p.table([]string{"suite", "option", "value"}, map[int]tw.Align{1: tw.AlignLeft, 2: tw.AlignLeft}, body)
	p.raw("</details>")
}

// indented keeps what stands below another row below it.
func indented(s string) string {
	rest := strings.TrimLeft(s, " ")
	return strings.Repeat("&nbsp;", len(s)-len(rest)) + rest
}

// longCell is the longest text that a cell keeps on one line.
const longCell = 60

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
			long := ""
			if utf8.RuneCountInString(c) > longCell {
				long = " long"
			}
			fmt.Fprintf(&b, "<td class=\"%s%s\">%s</td>", class(i), long, indented(html.EscapeString(c)))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
