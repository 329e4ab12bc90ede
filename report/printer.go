package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/tw"
)

// printer writes lines and tables and keeps the first error; after it, it writes nothing.
// The same calls make text or Markdown.
type printer struct {
	w        io.Writer
	markdown bool
	err      error
}

func (p *printer) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if p.markdown {
		if s = strings.TrimSpace(s); s == "" {
			return // what separates lines of text separates paragraphs already
		}
		s = escape(s) + "\n"
	}
	p.raw(s)
}

// raw writes one line as it is.
func (p *printer) raw(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s+"\n")
	}
}

// section begins a part of the report.
func (p *printer) section(title string) {
	if p.markdown {
		p.raw("## " + escape(title) + "\n")
		return
	}
	p.line("\n%s", title)
}

// pre writes lines whose columns must stay as they are.
func (p *printer) pre(text string) {
	text = strings.TrimRight(text, "\n")
	if p.markdown {
		text = "```text\n" + text + "\n```\n"
	}
	p.raw(text)
}

func (p *printer) table(head []string, align map[int]tw.Align, rows [][]string) {
	if p.err != nil {
		return
	}
	if p.markdown {
		p.err = markdownTable(p.w, head, align, rows)
		return
	}
	p.err = table(p.w, head, align, rows)
}

// item writes text after label, wrapped to width, later lines under the first.
func (p *printer) item(label, text string) {
	if p.markdown {
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

// paragraph is item in Markdown: a label that is a dash makes a list.
func (p *printer) paragraph(label, text string) {
	label, text = strings.TrimSpace(label), strings.Join(strings.Fields(text), " ")
	if label == "-" {
		p.raw("- " + escape(text))
		return
	}
	p.line("%s", strings.TrimSpace(label+" "+text))
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
