package bench

// Names that both ends of the wire need, and the companion text of the nodes. Clients
// look the namespace index up by its URI.
const (
	// BenchmarkURI is the namespace of the benchmark's own nodes.
	BenchmarkURI = "urn:opcycle:benchmark"
	// NodeCounter is the string identifier of monitored item 1; items 2…n append their
	// number: "Counter.2".
	NodeCounter = "Counter"
	// NodeEcho is the Int32 that the client writes: its echo (host = server) or its
	// result (host = client).
	NodeEcho = "Echo"
	// NodeInterval is the control cycle as an IEC 61131-3 duration literal ("T#10ms").
	NodeInterval = "Interval"
	// NodePriority is the task's priority (UInt32).
	NodePriority = "Priority"
	// NodeItems is the number of monitored items the server carries (UInt32).
	NodeItems = "Items"
	// NodeWindow is the measuring phase that a client asks the server to keep books of: a
	// Window as JSON (String, writable). Written again with the indices that the client
	// reached, it asks for the books.
	NodeWindow = "Window"
	// NodeResult is the server's side of that phase: a Part as JSON (ByteString, read in
	// pages by IndexRange), empty until it is there.
	NodeResult = "Result"
	// NodeClock is the server's CLOCK_MONOTONIC now, ns (Int64).
	NodeClock = "Clock"
	// NodeBenchmark is the object that all of these are components of. Its Methods have
	// the names below; their NodeIds are "Benchmark.Prepare" and so on.
	NodeBenchmark = "Benchmark"
	// MethodPrepare takes a Config as YAML, validates and resolves it on the server's host,
	// and answers with the Plan as JSON and an error text; one of them is empty. From then
	// on the run belongs to the caller's session.
	MethodPrepare = "Prepare"
	// MethodStart starts the prepared run and answers with its Announcement as JSON and an
	// error text; one of them is empty.
	MethodStart = "Start"
	// MethodStop ends the run of the caller and answers with an error text.
	MethodStop = "Stop"
	// NodePlan is the server's Announcement as JSON (String), for a client started by hand.
	NodePlan = "Plan"
)

// Announcement is what a server tells a client that did not come with it.
type Announcement struct {
	Tool    Tool        `json:"tool"`              // that serves
	Waiting bool        `json:"waiting,omitempty"` // it has no task: Prepare gives it one
	Busy    string      `json:"busy,omitempty"`    // its task is of another client's run: nobody else may measure it
	Plan    Plan        `json:"plan"`
	Grid    Grid        `json:"grid"`   // of the server's task, on the server's CLOCK_MONOTONIC
	Server  ProcessInfo `json:"server"` // boot id, time namespace and clock source tell whether that clock is the client's
}
