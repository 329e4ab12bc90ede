package bench

// Checked is what a check of a machine came to, as its JSON has it.
type Checked struct {
	Tool     Tool      `json:"tool"`
	Root     string    `json:"root"`    // below which the machine was read; "/": this one
	Fitness  Fitness   `json:"fitness"` // fit, unfit, could not tell
	Verdict  string    `json:"verdict"` // the same with its reasons, in one line
	Need     Need      `json:"need"`    // what the plan asks for
	Findings []Finding `json:"findings"`
	Attempts []Attempt `json:"attempts"` // null: nothing was tried
	Host     Host      `json:"host"`
}
