package report

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/tw"
)

// printer writes lines and tables and keeps the first error; after it, it writes nothing.
// The same calls make text, Markdown or HTML.
type printer struct {
	w    io.Writer
	form form
	err  error
}

// form is what a printer writes.
type form int

const (
	asText form = iota
	asMarkdown
	asHTML
)

func (p *printer) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if p.form == asText {
		p.raw(s)
		return
	}
	if s = strings.TrimSpace(s); s == "" {
		return // what separates lines of text separates paragraphs already
	}
	if p.form == asHTML {
		p.raw("<p>" + html.EscapeString(s) + "</p>")
		return
	}
	p.raw(escape(s) + "\n")
}

// raw writes one line as it is.
func (p *printer) raw(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s+"\n")
	}
}

// section begins a part of the report.
func (p *printer) section(title string) {
	switch p.form {
	case asMarkdown:
		p.raw("## " + escape(title) + "\n")
	case asHTML:
		p.raw("<h2>" + html.EscapeString(title) + "</h2>")
	default:
		p.line("\n%s", title)
	}
}

// pre writes lines whose columns must stay as they are.
func (p *printer) pre(text string) {
	text = strings.TrimRight(text, "\n")
	switch p.form {
	case asMarkdown:
		text = "```text\n" + text + "\n```\n"
	case asHTML:
		text = "<pre>" + html.EscapeString(text) + "</pre>"
	}
	p.raw(text)
}

func (p *printer) table(head []string, align map[int]tw.Align, rows [][]string) {
	if p.err != nil {
		return
	}
	switch p.form {
	case asMarkdown:
		p.err = markdownTable(p.w, head, align, rows)
	case asHTML:
		p.err = htmlTable(p.w, head, align, rows)
	default:
		p.err = table(p.w, head, align, rows)
	}
}

// item writes text after label, wrapped to width, later lines under the first.
func (p *printer) item(label, text string) {
	if p.form != asText {
		p.paragraph(label, text)
		return
	}
	indent := strings.Repeat(" ", min(utf8.RuneCountInString(label), 12))
	line := label
	begun := false
	for _, word := range strings.Fields(text) {
		if begun && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			p.line("%s", line)
			line, begun = indent, false
		}
		if begun {
			line += " "
		}
		line += word
		begun = true
	}
	p.line("%s", strings.TrimRight(line, " "))
}

// paragraph is item in Markdown and HTML: a label that is a dash makes a list.
func (p *printer) paragraph(label, text string) {
	label, text = strings.TrimSpace(label), strings.Join(strings.Fields(text), " ")
	switch {
	case label != "-":
		p.line("%s", strings.TrimSpace(label+" "+text))
	case p.form == asHTML:
		p.raw("<ul><li>" + html.EscapeString(text) + "</li></ul>")
	default:
		p.raw("- " + escape(text))
	}
}

// footnotes number sentences that stand below a table.
type footnotes []string

// mark is the number of a sentence: "[1]".
func (f *footnotes) mark(sentence string) string {
	i := slices.Index(*f, sentence)
	if i < 0 {
		i = len(*f)
		*f = append(*f, sentence)
	}
	return fmt.Sprintf("[%d]", i+1)
}

func (f *footnotes) print(p *printer) {
	for i, s := range *f {
		p.item(fmt.Sprintf("[%d] ", i+1), s)
	}
}

// printNA writes the notes as the reasons of cells that are n/a.
func (f *footnotes) printNA(p *printer) {
	for i, s := range *f {
		p.item(fmt.Sprintf("[%d] n/a: ", i+1), s)
	}
}
