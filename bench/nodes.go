package bench

// Nodes is what a run knows of the way between two ends that one conductor did not start.
type Nodes struct {
	Clock ClockComparison `json:"clock"`
	// Server and Client are what each end's kernel tells of the way; a server that handed no
	// books over has none.
	Server *End `json:"server,omitempty"`
	Client *End `json:"client,omitempty"`
}

// ClockComparison are the readings of the server's CLOCK_MONOTONIC over a connection of
// their own: once a second the fastest of 32 exchanges. The true offset lies within the
// bound of an estimate; an asymmetry of the two ways within the round trip cannot be told
// from an offset.
type ClockComparison struct {
	Exchanges int64 `json:"exchanges"`
	Failed    int64 `json:"failed"`
	Estimates int64 `json:"estimates"`
	// Offsets are all estimates, or every n-th of more than 3,600.
	Offsets Offsets `json:"offsets"`
	// WorstBound is the largest bound of the offset at an arrival, ns; nil: none was placed.
	WorstBound *int64 `json:"worst_bound"`
	// Drift is how much faster our clock runs, ppm, by the line through the medians of the
	// seconds of each 60 s of arrivals; windows of less than 10 s have none. Empty with a
	// common clock.
	Drift []float64 `json:"drift_ppm"`
}
