package bench

// Progress is what a long piece of work tells while it runs.
type Progress struct {
	Phase   string  // of metrics.md, "Phases"
	Share   float64 // of the phase, 0 to 1; negative = unknown
	Packets int64   // cycles received in the measuring phase so far
	Missing int64   // indices that are due and have not come, so far
}

// The phases, in their order.
const (
	PhaseStart   = "start"
	PhaseConnect = "connect"
	PhaseWarmUp  = "warm up"
	PhaseAlign   = "align"
	PhaseFloor   = "floor"
	PhaseMeasure = "measure"
	PhaseDrain   = "drain"
	PhaseCollect = "collect"
)
