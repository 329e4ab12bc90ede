package run

import "slices"

const (
	fitWindow = int64(60e9) // ns of a line
	fitLeast  = 10          // seconds that a slope needs
)

// fit takes the drift of two clocks out of arrivals: the residuals of R(k) − k·T around a
// line fitted for every 60 s through the medians of its seconds (metrics.md, "Server Transmit
// Jitter"). With fewer than 10 seconds the line is level.
type fit struct {
	first, period int64
	emit          func(k, residual int64)
	slopes        []float64 // ppm

	window int64 // the present one
	points []point
}

type point struct{ k, v int64 }

// add takes value v = R(k) − k·T; k ascends.
func (f *fit) add(k, v int64) {
	w := (k - f.first) * f.period / fitWindow
	if w != f.window {
		f.flush()
		f.window = w
	}
	f.points = append(f.points, point{k, v})
}

// at is the time of k within the phase, ns.
func (f *fit) at(k int64) float64 { return float64((k - f.first) * f.period) }

// flush fits the present window and emits its residuals.
func (f *fit) flush() {
	if len(f.points) == 0 {
		return
	}
	base := f.points[0].v // large numbers stay out of the arithmetic
	var xs, ys []float64
	for from := 0; from < len(f.points); {
		second := (f.points[from].k - f.first) * f.period / 1e9
		to := from
		var vs []int64
		for ; to < len(f.points) && (f.points[to].k-f.first)*f.period/1e9 == second; to++ {
			vs = append(vs, f.points[to].v-base)
		}
		slices.Sort(vs)
		xs = append(xs, (f.at(f.points[from].k)+f.at(f.points[to-1].k))/2)
		ys = append(ys, float64(vs[len(vs)/2]))
		from = to
	}
	level, slope := line(xs, ys)
	if len(xs) >= fitLeast {
		f.slopes = append(f.slopes, slope*1e6)
	}
	for _, p := range f.points {
		f.emit(p.k, p.v-base-int64(level+slope*f.at(p.k)))
	}
	f.points = f.points[:0]
}

// line is the least squares line through the points, level when they are few.
func line(xs, ys []float64) (level, slope float64) {
	var mx, my float64
	for i := range xs {
		mx += xs[i] / float64(len(xs))
		my += ys[i] / float64(len(ys))
	}
	if len(xs) < fitLeast {
		return my, 0
	}
	var xy, xx float64
	for i := range xs {
		xy += (xs[i] - mx) * (ys[i] - my)
		xx += (xs[i] - mx) * (xs[i] - mx)
	}
	slope = xy / xx
	return my - slope*mx, slope
}
