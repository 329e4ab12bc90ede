package bench

// Grid is the one time scale of a task: release k is due at Origin + k·Period. It is
// absolute: a late release keeps the grid.
type Grid struct {
	Origin int64 `json:"origin"` // CLOCK_MONOTONIC ns of release 0
	Period int64 `json:"period"` // ns, > 0
}

// Due is S(k).
func (g Grid) Due(k int64) int64 { return g.Origin + k*g.Period }

// Index is the last k whose due time is not after t.
func (g Grid) Index(t int64) int64 {
	d := t - g.Origin
	k := d / g.Period
	if d%g.Period < 0 {
		k--
	}
	return k
}

// Next is the first k whose due time is after t.
func (g Grid) Next(t int64) int64 { return g.Index(t) + 1 }

// Value is the monitored Int32 of grid index k: its low 31 bits.
func Value(k int64) int32 { return int32(k & 0x7fffffff) }

// Unwrap is the grid index nearest to near whose Value is v.
func Unwrap(v int32, near int64) int64 {
	const span = int64(1) << 31
	d := (int64(v) - near) & (span - 1)
	if d >= span/2 {
		d -= span
	}
	return near + d
}
