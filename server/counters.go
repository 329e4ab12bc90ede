package server

import "sync/atomic"

// Counters count what the server did. Each is exact; together they are no one instant.
// Any goroutine may read them.
type Counters struct {
	Connections      atomic.Int64 // open now
	ConnectionsEver  atomic.Int64
	Sessions         atomic.Int64 // alive now
	SessionsEver     atomic.Int64
	Subscriptions    atomic.Int64 // alive now
	MonitoredItems   atomic.Int64 // alive now
	PublishWaiting   atomic.Int64 // Publish requests that wait now
	Requests         atomic.Int64 // that the PLC thread handled
	Notifications    atomic.Int64 // messages with values sent
	Values           atomic.Int64 // in these messages
	KeepAlives       atomic.Int64
	LateSubscription atomic.Int64 // publishing cycles that found no Publish request
	QueueOverflows   atomic.Int64 // values dropped from queues longer than 1
	Coalesced        atomic.Int64 // values overwritten in queues of 1
	SlowTicks        atomic.Int64 // ticks in which a backlog held values back
	Queued           atomic.Int64 // messages that the kernel did not take at once
	Refused          atomic.Int64 // messages that a channel refused; they stay due
	InboxFull        atomic.Int64 // requests that found their connection's inbox full
	TickBudget       atomic.Int64 // ticks that left requests for the next one
	Faults           atomic.Int64 // ServiceFaults sent
	Panics           atomic.Int64 // connections that a last-resort recover ended
	RecordsLost      atomic.Int64 // records that the ring did not take
	BytesBound       atomic.Int64 // MemoryPerConnection
}

// Totals is Counters at about one instant, for reports.
type Totals struct {
	Connections, ConnectionsEver, Sessions, SessionsEver int64
	Subscriptions, MonitoredItems, PublishWaiting        int64
	Requests, Notifications, Values, KeepAlives          int64
	LateSubscription, QueueOverflows, Coalesced          int64
	SlowTicks, Queued, Refused, InboxFull, TickBudget    int64
	Faults, Panics, RecordsLost, BytesBound              int64
}

// Snapshot reads all counters.
func (c *Counters) Snapshot() Totals {
	return Totals{
		Connections: c.Connections.Load(), ConnectionsEver: c.ConnectionsEver.Load(),
		Sessions: c.Sessions.Load(), SessionsEver: c.SessionsEver.Load(),
		Subscriptions: c.Subscriptions.Load(), MonitoredItems: c.MonitoredItems.Load(),
		PublishWaiting: c.PublishWaiting.Load(), Requests: c.Requests.Load(),
		Notifications: c.Notifications.Load(), Values: c.Values.Load(), KeepAlives: c.KeepAlives.Load(),
		LateSubscription: c.LateSubscription.Load(), QueueOverflows: c.QueueOverflows.Load(), Coalesced: c.Coalesced.Load(),
		SlowTicks: c.SlowTicks.Load(), Queued: c.Queued.Load(), Refused: c.Refused.Load(),
		InboxFull: c.InboxFull.Load(), TickBudget: c.TickBudget.Load(),
		Faults: c.Faults.Load(), Panics: c.Panics.Load(), RecordsLost: c.RecordsLost.Load(), BytesBound: c.BytesBound.Load(),
	}
}
