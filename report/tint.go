package report

import (
	"fmt"
	"strings"
)

// tint is a colour of a plot, 0xRRGGBB. In a page each becomes the page's own, light or
// dark (see theme and html.css).
type tint uint32

const (
	inkColour    tint = 0x1b1f24
	lineColour   tint = 0xd1d9e0
	barColour    tint = 0x1f6feb
	bandColour   tint = 0xb6d4fe
	secondColour tint = 0x8250df
	badColour    tint = 0xcf222e
	warnColour   tint = 0x9a6700
)

// tints are the names that the page has for them.
func tints() map[tint]string {
	return map[tint]string{inkColour: "--ink", lineColour: "--line", barColour: "--bar", bandColour: "--band", secondColour: "--second", badColour: "--bad", warnColour: "--warn"}
}

// RGBA makes a tint a color.Color: opaque, 16 bits a channel.
func (t tint) RGBA() (r, g, b, a uint32) {
	wide := func(shift int) uint32 { return uint32(t) >> shift & 0xff * 0x101 }
	return wide(16), wide(8), wide(0), 0xffff
}

// variable is t as the value of a CSS property.
func (t tint) variable() string { return "var(" + tints()[t] + ")" }

// themed replaces the literal colours of an SVG by the page's.
func themed(svg string) string {
	var pairs []string
	for t := range tints() {
		pairs = append(pairs, fmt.Sprintf("#%06X", uint32(t)), t.variable())
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}
