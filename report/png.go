package report

import (
	"fmt"
	"image/color"
	"io"

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
// result, as one picture. A result without any is an error: an empty picture shows nothing.
func PNG(w io.Writer, f bench.File, v judge.Verdict, _ []bench.Reference) error {
	var plots []*plot.Plot
	add := func(title string, s *bench.Series) error {
		if s == nil || s.Count == 0 {
			return nil
		}
		p, err := histogram(title, s)
		if err == nil {
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
	return drawPNG(w, plots)
}

func drawPNG(w io.Writer, plots []*plot.Plot) error {
	rows := (len(plots) + pngColumns - 1) / pngColumns
	c := vgimg.NewWith(vgimg.UseWH(pngColumns*plotWidth, vg.Length(rows)*plotHeight), vgimg.UseDPI(144), vgimg.UseBackgroundColor(color.White))
	dc := draw.New(c)
	tiles := draw.Tiles{Rows: rows, Cols: pngColumns, PadX: vg.Millimeter * 4, PadY: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadRight: vg.Millimeter * 4}
	for i, p := range plots {
		p.Draw(tiles.At(dc, i%pngColumns, i/pngColumns))
	}
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("draw PNG: %w", err)
	}
	return nil
}
