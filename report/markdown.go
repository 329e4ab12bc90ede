package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// Markdown writes what Text writes, as GitHub-flavoured Markdown.
func Markdown(w io.Writer, f bench.File, v judge.Verdict, refs []bench.Reference) error {
	return write(&printer{w: w, form: asMarkdown}, f, v, refs)
}

// markdownTable is table in Markdown, an empty line after it.
func markdownTable(w io.Writer, head []string, align map[int]tw.Align, rows [][]string) error {
	aligns := make([]tw.Align, len(head))
	for i := range aligns {
		aligns[i] = tw.AlignRight
		if i == 0 {
			aligns[i] = tw.AlignLeft
		}
		if a, ok := align[i]; ok {
			aligns[i] = a
		}
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: aligns},
	}
	t := tablewriter.NewTable(w, tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell}))
	t.Header(escaped(head))
	for _, r := range rows {
		if err := t.Append(escaped(r)); err != nil {
			return fmt.Errorf("table row %q: %w", r, err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("table under %q: %w", head, err)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func escaped(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = indented(escape(c))
	}
	return out
}

// escape takes their meaning from the characters that Markdown gives one to.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`).Replace(s)
}
