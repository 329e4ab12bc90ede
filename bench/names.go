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
	// NodePlan is the server's Announcement as JSON (String), for a client started by hand.
	NodePlan = "Plan"
)

// Announcement is what a server tells a client that did not come with it.
type Announcement struct {
	Plan   Plan        `json:"plan"`
	Grid   Grid        `json:"grid"`   // of the server's task, on the server's CLOCK_MONOTONIC
	Server ProcessInfo `json:"server"` // boot id, time namespace and clock source tell whether that clock is the client's
}
