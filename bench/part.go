package bench

// PartMax bounds the abnormal cycles and the exceptions that a Part holds, each, and
// PartBytes the Part as JSON: anybody may ask a server for one.
const (
	PartMax   = 10_000
	PartBytes = 8 << 20
)

// Window is the measuring phase of a client that came by itself.
type Window struct {
	First        int64  `json:"first"`
	N            int64  `json:"n"`
	Subscription uint32 `json:"subscription"`
	Done         bool   `json:"done"` // the client has reached the end: hand over what there is
}

// Part is what a server hands to a client that came by itself: its side of the measuring
// phase, bounded whatever its length. On the server's clock.
type Part struct {
	Window   Window      `json:"window"`
	Executed int64       `json:"executed"`
	Messages int64       `json:"messages"` // sent with a newest index inside
	Series   []Series    `json:"series"`
	Figures  []Figure    `json:"figures"`
	Abnormal []Release   `json:"abnormal"` // at most PartMax, then counted
	LeftOut  int64       `json:"abnormal_left_out"`
	Process  ProcessInfo `json:"process"`
	Host     Host        `json:"host"`
	End      *End        `json:"end"`
	Findings []Finding   `json:"findings,omitempty"` // of check on the server's machine, before it started
	Attained Attained    `json:"attained"`
	Invalid  []string    `json:"invalid"`
	Warnings []string    `json:"warnings,omitempty"`
	// Exceptions are the indices that were not executed, sent in their own release and
	// dropped nowhere; at most PartMax, then counted.
	Exceptions        []Exception `json:"exceptions"`
	ExceptionsLeftOut int64       `json:"exceptions_left_out"`
}

// Exception is one index that did not leave the server as it should.
type Exception struct {
	K          int64 `json:"k"`
	Executed   bool  `json:"executed"`
	Took       int64 `json:"took"` // X − S, ns; 0 when not executed
	Sent       bool  `json:"sent"`
	Waited     bool  `json:"waited"`
	Before     int64 `json:"before"` // P − S, ns; 0 when not sent
	Dropped    bool  `json:"dropped"`
	DroppedOne bool  `json:"dropped_one"`
}

// Apply fills the server's side of facts; due is S(k) on the clock of the facts.
func (e Exception) Apply(f *Facts) {
	f.Executed, f.Sent, f.Waited = e.Executed, e.Sent, e.Waited
	f.Dropped, f.DroppedOne = e.Dropped, e.DroppedOne
	f.Done = f.Due + e.Took
	if e.Before != 0 {
		f.Before = f.Due + e.Before
	}
}
