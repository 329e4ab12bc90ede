package bench

// Live is a run under way as its conductor sees it, for who watches from outside while it
// measures. It is a copy; what counts is the result.
type Live struct {
	Progress
	Due     int64 // indices of the measuring phase that have come due
	Clients []LiveClient
	Series  []LiveSeries
}

// LiveClient is what one client has received so far. An index is decided a few cycles after
// it was due: until then it is in Due and in no outcome.
type LiveClient struct {
	Object       string // as in the result: "item" for the first client, "client 2" …
	Outcomes     map[Outcome]int64
	Missed, Late map[Cause]int64
}

// LiveSeries is one series so far, with at least one value.
type LiveSeries struct {
	Object, Name         string
	Count, Sum, Min, Max int64   // ns
	AtMost               []int64 // how many values do not exceed each bound that was asked for; see record.Series.AtMost
}
