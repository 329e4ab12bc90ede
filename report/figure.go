package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a plot in a page: it is scaled to the page's width.
const (
	plotWidth  = 13 * vg.Centimeter
	plotHeight = 7 * vg.Centimeter
	lineWidth  = 27 * vg.Centimeter
)

// figure puts a plot into the page as SVG, with words for who can't see it. keys are HTML
// that tells the colours and signs of the plot.
func (p *printer) figure(pl *plot.Plot, width vg.Length, words string, keys ...string) {
	c := vgsvg.NewWith(vgsvg.UseWH(width, plotHeight))
	pl.Draw(draw.Crop(draw.New(c), vg.Millimeter, -6*vg.Millimeter, vg.Millimeter, -2*vg.Millimeter)) // room for the last number of the axis
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		p.err = fmt.Errorf("draw %s: %w", pl.Title.Text, err)
		return
	}
	class, focus := "", ""
	if width > plotWidth { // it scrolls by itself on a narrow screen, else its numbers shrink to dots
		class, focus = ` class="wide"`, ` tabindex="0"`
	}
	p.raw("<figure" + class + "><div" + focus + ">" + theme(b.String(), words) + "</div>" + keyList(keys) +
		"<figcaption>" + html.EscapeString(words) + "</figcaption></figure>")
}

// theme makes a plot part of its page: the page's colours instead of literal ones, its
// width, its font, and a text alternative.
func theme(svg, words string) string {
	_, svg, _ = strings.Cut(svg, "<svg ") // without the prologue
	svg = svg[strings.Index(svg, "viewBox"):]
	svg = regexp.MustCompile(`font-family:[^;"]*`).ReplaceAllString(themed(svg), "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	return `<svg role="img" aria-label="` + html.EscapeString(words) + `" ` + strings.TrimSpace(svg)
}

// key is an entry of a legend: a sign in its colour, and what it stands for.
func key(sign string, colour tint, words string) string {
	return fmt.Sprintf(`<span class="key"><i style="color:%s" aria-hidden="true">%s</i> %s</span>`, colour.variable(), sign, html.EscapeString(words))
}

func keyList(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return "<div class=\"keys\">" + strings.Join(keys, " ") + "</div>"
}
