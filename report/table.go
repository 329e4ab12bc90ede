package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// width is what a report tries to stay within, in columns.
const width = 100

// table writes rows under a head: first column to the left, the others as align says
// (tw.AlignRight where it says nothing). No frame; a line under the head.
func table(w io.Writer, head []string, align map[int]tw.Align, rows [][]string) error {
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
		Padding:    tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}},
		Alignment:  tw.CellAlignment{PerColumn: aligns},
	}
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: tw.On, BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On},
			},
		})),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off}}))
	t.Header(head)
	for _, r := range rows {
		if err := t.Append(r); err != nil {
			return fmt.Errorf("table row %q: %w", r, err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("table under %q: %w", head, err)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
