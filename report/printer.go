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
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// section begins a part of the report.
func (p *printer) section(title string) { p.line("\n%s", title) }

func (p *printer) table(head []string, align map[int]tw.Align, rows [][]string) {
	if p.err == nil {
		p.err = table(p.w, head, align, rows)
	}
}

// item writes text after label, wrapped to width, later lines under the first.
func (p *printer) item(label, text string) {
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
