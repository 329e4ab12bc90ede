package server

import (
	"math"

	"github.com/gopcua/opcua/ua"
)

// sourceKind tells where an item's value comes from.
type sourceKind uint8

const (
	sourceFixed   sourceKind = iota // never changes: item.fixed is its encoded Variant
	sourceCounter                   // Value(k) of the output image
	sourceEcho                      // the Int32 that clients write
	sourceClock                     // the wall clock, at patch in item.fixed (DateTime or inside a structure)
)

// item is a monitored item (Part 4, 5.13.1, https://reference.opcfoundation.org/Core/Part4/v105/docs/5.13.1).
// Made by the goroutine of a connection, owned by the PLC thread from its order on.
type item struct {
	id            uint32
	clientHandle  uint32
	kind          sourceKind
	mode          ua.MonitoringMode
	stamps        ua.TimestampsToReturn
	trigger       ua.DataChangeTrigger
	discardOldest bool
	numeric       bool
	deadband      float64 // absolute; 0 = none

	follow bool  // sampling interval −1: the publishing interval, whatever it becomes
	every  int64 // ticks between samples; 0 = by exception
	floor  int64 // fewest ticks between samples that the node allows (MinimumSamplingInterval)
	next   int64 // index of the next sample when every > 0

	first     bool   // the initial value is still to be queued
	triggered bool   // sampling only, and a triggering item fired: its queue is reported
	dead      bool   // deleted; links may still point here
	seen      uint64 // version of the source at the last sample
	last      entry  // the last value that passed the filter
	taken     int    // entries in the message being made
	queue     queue

	fixed []byte // encoded Variant of sourceFixed and sourceClock
	patch int    // where sourceClock's DateTime stands in fixed
}

// room is how many bytes one notification of the item takes at most: client handle, mask,
// Variant, status, two time stamps.
func (it *item) room() int { return 4 + 1 + max(len(it.fixed), 5) + 4 + 8 + 8 }

// passes applies the DataChangeFilter (Part 4, 7.22.2) to a new sample. hot.
func (it *item) passes(e *entry) bool {
	if it.first {
		return true
	}
	if e.status != it.last.status&^overflow {
		return true
	}
	switch it.trigger {
	case ua.DataChangeTriggerStatus:
		return false
	case ua.DataChangeTriggerStatusValueTimestamp:
		if e.source != it.last.source {
			return true
		}
	}
	if it.deadband > 0 {
		return math.Abs(it.number(e)-it.number(&it.last)) > it.deadband
	}
	return e.value != it.last.value
}

// put appends one notification (Part 4, 7.25.2: client handle and DataValue). hot.
func (it *item) put(b []byte, e *entry) []byte {
	b = put32(b, it.clientHandle)
	mask := byte(ua.DataValueValue)
	if e.status != ua.StatusOK {
		mask |= ua.DataValueStatusCode
	}
	if it.stamps == ua.TimestampsToReturnSource || it.stamps == ua.TimestampsToReturnBoth {
		mask |= ua.DataValueSourceTimestamp
	}
	if it.stamps == ua.TimestampsToReturnServer || it.stamps == ua.TimestampsToReturnBoth {
		mask |= ua.DataValueServerTimestamp
	}
	if e.source == 0 {
		mask &^= ua.DataValueSourceTimestamp
	}
	if e.status&0x80000000 != 0 {
		mask &^= ua.DataValueValue
	}
	b = append(b, mask)
	if mask&ua.DataValueValue != 0 {
		b = it.putVariant(b, e)
	}
	if mask&ua.DataValueStatusCode != 0 {
		b = put32(b, uint32(e.status))
	}
	if mask&ua.DataValueSourceTimestamp != 0 {
		b = put64(b, e.source)
	}
	if mask&ua.DataValueServerTimestamp != 0 {
		b = put64(b, e.server)
	}
	return b
}

// putVariant appends the value. hot.
func (it *item) putVariant(b []byte, e *entry) []byte {
	switch it.kind {
	case sourceCounter, sourceEcho:
		b = append(b, byte(ua.TypeIDInt32))
		return put32(b, uint32(e.value)&it.mask())
	case sourceClock:
		at := len(b) + it.patch
		b = append(b, it.fixed...)
		put64(b[at:at:at+8], e.value)
		return b
	}
	return append(b, it.fixed...)
}

// mask keeps the low 31 bits of a grid index (bench.Value) and all bits of an echo. hot.
func (it *item) mask() uint32 {
	if it.kind == sourceCounter {
		return 0x7fffffff
	}
	return 0xffffffff
}

// reports tells whether the item's queue goes into notifications (Part 4, 5.13.1.3). hot.
func (it *item) reports() bool {
	return it.mode == ua.MonitoringModeReporting || it.triggered
}

// number is the value that a deadband compares. hot.
func (it *item) number(e *entry) float64 { return float64(int32(uint32(e.value) & it.mask())) }
