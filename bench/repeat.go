package bench

// RepeatSchema is the version of Repeat that this program writes.
const RepeatSchema = 1

// Repeat is what several runs of one plan, one after the other, came to. The runs are whole
// results of their own; this is their list and what they differ by.
type Repeat struct {
	Schema int           `json:"schema"`
	Tool   Tool          `json:"tool"`
	Asked  int           `json:"asked"` // runs that were to be made
	Runs   []RepeatedRun `json:"runs"`  // those that were made, in their order
	// Spread is over the valid, complete runs; empty with none.
	Spread []Spread `json:"spread"`
}

// RepeatedRun is one run of a Repeat.
type RepeatedRun struct {
	File  string `json:"file"`          // from the folder of the Repeat
	Exit  int    `json:"exit"`          // 0 passed, 1 a budget failed, 2 not measured
	Valid bool   `json:"valid"`         // and complete: counts in the spread
	Why   string `json:"why,omitempty"` // it does not count
}

// Spread is what runs differ by in one figure.
type Spread struct {
	Object    string `json:"object"`
	Series    string `json:"series"`
	Statistic string `json:"statistic"`
	Unit      string `json:"unit"` // of every value here: "ns", "1", "ratio"
	Runs      int    `json:"runs"` // that have the figure
	// The runs' values.
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	// Between is the standard deviation (n − 1) of the runs' values; nil with one.
	Between *float64 `json:"between"`
	// Within is what the values would differ by if nothing but the noise within a run made them
	// differ: the standard error of a run's average by its seconds, as if these were
	// independent (root mean square over the runs). nil: the figure is no average, or the
	// runs have fewer than five seconds.
	Within *float64 `json:"within"`
}
