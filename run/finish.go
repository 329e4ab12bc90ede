package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/workloads/opcua"
)

// finish stops both processes, joins what they wrote and fills the file.
func (s *session) finish() {
	s.tell(bench.PhaseCollect, -1)
	s.file.Ended = time.Now().UTC()
	s.file.Complete = s.failed == nil
	var b brokenBudget
	switch {
	case errors.As(s.failed, &b):
		s.file.Aborted = &b.Aborted
	case s.failed != nil:
		s.invalid("ended early: " + s.failed.Error())
	}
	s.fetchPart()
	s.clocks.end() // not before: the exchanges hold the server's run
	s.stopBoth()
	s.free()
	s.collectBesides()
	s.pull()
	if s.collect == nil {
		s.invalid("nothing was measured: the run ended before the measuring phase")
		s.file.Phase = s.phase
		return
	}
	s.join.finish(max(s.join.newest, s.collect.last()))
	for _, t := range s.further {
		t.join.finish(t.last())
	}
	s.validity()
	s.file.Phase = s.phase
	s.results()
}

// fetchPart asks a server that was started by hand for its side of the phase.
func (s *session) fetchPart() {
	if s.Remote == nil || s.collect == nil {
		return
	}
	w := bench.Window{First: s.phase.First, N: s.phase.Ran, Done: true}
	ctx, cancel := context.WithTimeout(s.ctx, 12*time.Second) // an interrupt leaves no time for it
	defer cancel()
	if ctx.Err() != nil {
		return
	}
	_, err := s.client.order(ctx, opcua.Order{Do: opcua.DoWindow, Window: &w}, orderLimit)
	var r opcua.Reply
	if err == nil {
		r, err = s.client.order(ctx, opcua.Order{Do: opcua.DoBooks}, orderLimit)
	}
	var p bench.Part
	if err == nil {
		err = json.Unmarshal(r.Books, &p)
	}
	if err != nil && s.ctx.Err() != nil {
		err = ErrInterrupted
	}
	if err != nil {
		s.warn("the server's side is n/a: " + err.Error())
		return
	}
	s.part = &p
}

// stopBoth ends the client first: an orderly CloseSession needs the server. The server is
// told soon after, so that the two limits do not add up.
func (s *session) stopBoth() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := s.client.stopWithin(s.patience())
		s.stopped(s.client, r, err)
	}()
	if s.server != nil {
		select {
		case <-done:
		case <-time.After(s.patience() / 2):
		}
		r, err := s.server.stopWithin(s.patience())
		<-done
		s.stopped(s.server, r, err)
	}
	<-done
}

// patience is how long a process may take to stop: after an interrupt everything has to be
// done within 2 s.
func (s *session) patience() time.Duration {
	if s.ctx.Err() != nil {
		return stopLimit / 2
	}
	return stopLimit
}

// stopped keeps what a process said at its end.
func (s *session) stopped(c *child, r opcua.Reply, err error) {
	i := slices.IndexFunc(s.file.Processes, func(p bench.ProcessInfo) bool { return p.Name == c.name })
	if err != nil {
		s.file.Processes[i].Error = err.Error()
		if s.failed == nil {
			s.warn("stop the " + c.name + ": " + err.Error())
		}
		return
	}
	s.compare(i, r.Info)
}

// compare keeps the last reading of a process's threads and tells when they moved.
func (s *session) compare(i int, now *bench.ProcessInfo) {
	if now == nil {
		return
	}
	was := s.file.Processes[i].Threads
	for _, t := range now.Threads {
		j := slices.IndexFunc(was, func(o bench.ThreadInfo) bool { return o.TID == t.TID })
		if j >= 0 && !slices.Equal(was[j].CPUs, t.CPUs) {
			s.invalid(fmt.Sprintf("the affinity of thread %d of the %s process changed from %v to %v", t.TID, now.Name, was[j].CPUs, t.CPUs))
		}
	}
	s.file.Processes[i] = *now
}
