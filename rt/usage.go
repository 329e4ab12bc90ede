package rt

// Usage is what the kernel counted of a thread or process since it started.
type Usage struct {
	MinorFaults int64 // page faults served without a disk
	MajorFaults int64 // page faults that waited for a disk
	Voluntary   int64 // switches because it blocked
	Involuntary int64 // switches because another was to run
}
