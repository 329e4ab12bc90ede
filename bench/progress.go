package bench

// Progress is what a long piece of work tells while it runs.
type Progress struct {
	Phase string  // of metrics.md, "Phases", or a suite's own
	Share float64 // of the phase, 0 to 1; negative = unknown
	Text  string  // what else a reader wants to see now: "worst 55 us"; empty: nothing
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
	PhaseReport  = "report"
)

// Phases are all of them, in their order.
func Phases() []string {
	return []string{PhaseStart, PhaseConnect, PhaseWarmUp, PhaseAlign, PhaseFloor, PhaseMeasure, PhaseDrain, PhaseCollect, PhaseReport}
}
