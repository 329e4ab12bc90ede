package plc

import "math"

// loops is the number of control loops that one iteration of FLOAT scans.
const loops = 32

// float is the program FLOAT: LREAL arithmetic. One iteration is one scan of 32 control
// loops; in IEC 61131-3 Structured Text, for each loop i:
//
//	raw := raw * 1664525 + 1013904223;                      (* DWORD: the field device *)
//	x   := 4.0 + 16.0 * (UINT_TO_LREAL(raw SHR 16) / 65536.0);         (* 4 … 20 mA *)
//	pv[i] := pv[i] + 0.25 * (x * (0.75 + x * (0.05 + x * 0.001)) - pv[i]); (* PT1 of a linearised input *)
//	e   := 15.0 - pv[i];
//	acc[i] := LIMIT(1.0, acc[i] + 0.01 * e, 100.0);
//	y[i] := LIMIT(1.0, acc[i] + 2.0 * e, 100.0) / (1.0 + 0.02 * pv[i]);
//	total := 0.5 * total + y[i];
//
// Every value stays within [−60, 200], and one that is not zero is at least 1E-18: a normal
// number: no denormal, infinity or NaN, whose arithmetic would take another time.
//
// NB: a product that is added to is written float64(x*y): the language lets a compiler
// fuse x*y + z into one rounding where the processor can (arm64, GOAMD64=v3), and the
// explicit conversion forbids it. A test disassembles both builds.
type float struct {
	pv, acc, y [loops]float64
	total      float64
}

func newFloat() *float { return new(float) }

// limit is LIMIT(lo, v, hi) of IEC 61131-3.
func limit(lo, v, hi float64) float64 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

// Run scans the loops iterations times from their initial state. hot.
func (p *float) Run(iterations int64) int64 {
	raw := uint32(1)
	for i := range p.pv {
		p.pv[i], p.acc[i], p.y[i] = 10, 50, 50
	}
	p.total = 100
	for ; iterations > 0; iterations-- {
		total := p.total
		for i := range p.pv {
			raw = signal(raw)
			x := 4 + float64(16*(float64(raw>>16)/65536))
			lin := float64(x * (0.75 + float64(x*(0.05+float64(x*0.001)))))
			pv := p.pv[i] + float64(0.25*(lin-p.pv[i]))
			e := 15 - pv
			acc := limit(1, p.acc[i]+float64(0.01*e), 100)
			y := limit(1, acc+float64(2*e), 100) / (1 + float64(0.02*pv))
			p.pv[i], p.acc[i], p.y[i] = pv, acc, y
			total = float64(0.5*total) + y
		}
		p.total = total
	}
	return p.checksum()
}

// checksum folds the bits of every variable. hot.
func (p *float) checksum() int64 {
	sum := math.Float64bits(p.total)
	for i := range p.pv {
		sum = sum*31 + math.Float64bits(p.pv[i])
		sum = sum*31 + math.Float64bits(p.acc[i])
		sum = sum*31 + math.Float64bits(p.y[i])
	}
	return int64(sum)
}
