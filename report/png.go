package report

import (
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"opcycle/bench"
	"opcycle/judge"
)

// pngColumns is how many histograms stand beside each other in a picture.
const pngColumns = 2

// PNG draws the histograms of the vendor's report, or those of every series of a suite's
// result, as one picture under a head that says of which run. A result without any is an
// error: an empty picture shows nothing.
func PNG(w io.Writer, f bench.File, v judge.Verdict, _ []bench.Reference) error {
	var plots []*plot.Plot
	add := func(title string, s *bench.Series) error {
		if s == nil || s.Count == 0 {
			return nil
		}
		p, err := histogram(title+"\n"+pngText(s), s)
		if err == nil && p != nil {
			plots = append(plots, p)
		}
		return err
	}
	for _, r := range plotted() {
		if err := add(r.label, judge.FindSeries(&f, "", r.series)); err != nil {
			return err
		}
	}
	for i := range f.Suites {
		r := &f.Suites[i]
		for j := range r.Series {
			s := &r.Series[j]
			if err := add(judge.Title(r)+": "+s.Object+" "+s.Name, s); err != nil {
				return err
			}
		}
	}
	if len(plots) == 0 {
		return fmt.Errorf("draw PNG: the result has no series with values (%s)", v.Text)
	}
	return drawPNG(w, plots, pngHead(&f, &v))
}

// pngText are the figures of a histogram in one short line.
func pngText(s *bench.Series) string {
	text := fmt.Sprintf("%s samples, %s to %s", judge.Group(s.Count), found(judge.Statistic(s, "min")), found(judge.Statistic(s, "max")))
	if m := judge.Statistic(s, "p50"); m.OK {
		text += ", median " + found(m)
	}
	return text
}

// pngHead says of which run a picture is, and how that ended.
func pngHead(f *bench.File, v *judge.Verdict) []string {
	head := []string{pageTitle(f) + ": " + string(v.Outcome)}
	if !f.Started.IsZero() {
		head = append(head, fmt.Sprintf("measured %s, %s %s", f.Started.UTC().Format("2006-01-02 15:04 UTC"), f.Tool.Name, orNA(strings.TrimSpace(f.Tool.Version))))
	}
	for _, r := range v.Reasons {
		head = append(head, "invalid: "+short(r))
	}
	return head
}

func drawPNG(w io.Writer, plots []*plot.Plot, head []string) error {
	rows := (len(plots) + pngColumns - 1) / pngColumns
	style := newPlot("", "", "").Title.TextStyle
	line := style.Font.Size * 1.5
	above := vg.Length(len(head)+1) * line
	c := vgimg.NewWith(vgimg.UseWH(pngColumns*plotWidth, vg.Length(rows)*plotHeight+above), vgimg.UseDPI(144), vgimg.UseBackgroundColor(color.White))
	dc := draw.New(c)
	for i, text := range head {
		dc.FillText(style, vg.Point{X: vg.Millimeter * 3, Y: dc.Max.Y - vg.Length(i+1)*line - vg.Millimeter}, text)
	}
	dc = draw.Crop(dc, 0, 0, 0, -above)
	tiles := draw.Tiles{Rows: rows, Cols: pngColumns, PadX: vg.Millimeter * 4, PadY: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadRight: vg.Millimeter * 4}
	for i, p := range plots {
		p.Draw(tiles.At(dc, i%pngColumns, i/pngColumns))
	}
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("draw PNG: %w", err)
	}
	return nil
}
