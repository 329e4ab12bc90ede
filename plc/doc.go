// Package plc is the run time of one IEC 61131-3 cyclic task: it wakes on an absolute
// grid, takes the input image, runs a program, hands over the output image, and leaves one
// record.Release of each executed release in a ring. It also holds the programs, and finds
// the iteration count whose calculation takes a wanted time.
//
// It refuses to catch up (a release that a later one has overtaken is skipped and counted,
// never run in a burst), to know OPC UA (server and client stand behind IO), to place
// itself (policy, priority and CPUs are its caller's), and to judge what it records.
//
// NB: Task.Run, the Meter and the Clock belong to one thread: the caller calls
// runtime.LockOSThread, opens clock and meter, then calls Run, all on one goroutine.
package plc
