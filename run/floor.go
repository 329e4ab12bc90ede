package run

import (
	"errors"
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/workloads/opcua"
)

// The kinds of the floor's two processes, beside bench.ProcessServer and ProcessClient.
const (
	FloorReceive = "floor-receive"
	FloorSend    = "floor-send"
)

// floorPair is what the two floor processes of one phase measured.
type floorPair struct {
	wakeUp, transmit []int64
	na               string // why there is nothing
}

// floor holds the task, and lets two fresh processes on the same CPUs exchange as many
// bytes as a Publish response has, half a period away from the task's own grid.
func (s *session) floor() error {
	n := s.Plan.Floor
	if n == 0 || s.server == nil { // somebody else's task cannot be held
		return nil
	}
	length := time.Duration(n) * s.Plan.Task.Interval
	if err := s.hold(true); err != nil {
		return err
	}
	done := make(chan floorPair, 1)
	go func() { done <- s.floorOnce(n, length) }()
	err := s.wait(bench.PhaseFloor, length)
	pair := <-done
	s.floors = append(s.floors, pair)
	if pair.na != "" && err == nil {
		s.warn("floor: " + pair.na)
	}
	if back := s.hold(false); err == nil {
		err = back
	}
	if err == nil {
		err = s.wait(bench.PhaseFloor, max(200*time.Millisecond, 20*s.Plan.Task.Interval)) // the task is in its rhythm again
	}
	return err
}

func (s *session) hold(on bool) error {
	for _, c := range s.children() {
		if _, err := c.order(s.ctx, opcua.Order{Do: opcua.DoHold, On: on}, orderLimit); err != nil {
			return err
		}
	}
	return nil
}

// floorOnce runs the pair. It touches nothing of the session but its plan and context.
func (s *session) floorOnce(n int, length time.Duration) floorPair {
	p := s.Plan
	bytes, ok := s.look.messageBytes()
	if !ok {
		return floorPair{na: "no Publish response was seen whose size it could take"}
	}
	receiver, err := s.Starter.start(FloorReceive, p.Client, p.RT, Rings{})
	if err != nil {
		return floorPair{na: err.Error()}
	}
	defer receiver.free()
	defer receiver.kill()
	sender := p.Server
	if sender.FIFO > 0 {
		sender.FIFO = p.Task.Priority // it stands for the PLC thread
	}
	if len(sender.TaskCPUs) > 0 {
		sender.CPUs, sender.MaxProcs = sender.TaskCPUs, 1
	}
	from, err := s.Starter.start(FloorSend, sender, p.RT, Rings{})
	if err != nil {
		return floorPair{na: err.Error()}
	}
	defer from.free()
	defer from.kill()
	pair, err := s.exchange(from, receiver, n, int(max(bytes, 8)), length)
	if err != nil {
		return floorPair{na: err.Error()}
	}
	return pair
}

func (s *session) exchange(from, to *child, n, bytes int, length time.Duration) (floorPair, error) {
	p := s.Plan
	b, err := to.order(s.ctx, opcua.Order{Do: opcua.DoStart, Plan: &p}, orderLimit)
	if err != nil {
		return floorPair{}, err
	}
	if _, err := from.order(s.ctx, opcua.Order{Do: opcua.DoStart, Plan: &p, Target: b.Endpoint}, orderLimit); err != nil {
		return floorPair{}, err
	}
	grid := s.grid
	grid.Origin += grid.Period / 2
	order := opcua.Order{Do: opcua.DoFloor, Grid: grid, Periods: n, Bytes: bytes}
	received := make(chan error, 1)
	var got opcua.Reply
	go func() {
		var err error
		got, err = to.order(s.ctx, order, length+orderLimit)
		received <- err
	}()
	sent, err := from.order(s.ctx, order, length+orderLimit)
	if err := errors.Join(err, <-received); err != nil {
		return floorPair{}, fmt.Errorf("exchange: %w", err)
	}
	return floorPair{wakeUp: sent.Floor.WakeUp, transmit: got.Floor.Transmit}, nil
}

// floorSeries joins the samples of all pairs into the two series of the floor and says
// how far the pairs' medians are apart.
func floorSeries(pairs []floorPair) (transmit, wakeUp *record.Series, na string) {
	transmit, wakeUp = record.NewSeries(), record.NewSeries()
	var p50 [2][]int64
	for i, p := range pairs {
		if p.na != "" {
			return transmit, wakeUp, p.na
		}
		for j, v := range p.transmit {
			transmit.Add(int64(i*len(p.transmit)+j), v)
		}
		for j, v := range p.wakeUp {
			wakeUp.Add(int64(i*len(p.wakeUp)+j), v)
		}
		t, _ := median(append([]int64(nil), p.transmit...))
		w, _ := median(append([]int64(nil), p.wakeUp...))
		p50[0], p50[1] = append(p50[0], t), append(p50[1], w)
	}
	switch {
	case len(pairs) < 2:
		na = "the floor was not taken before and after"
	case apart(p50[0]) || apart(p50[1]):
		na = "the machine changed: the floor before and after differ by more than 25 %"
	}
	return transmit, wakeUp, na
}

// apart reports whether two medians differ by more than 25 % of the smaller.
func apart(v []int64) bool {
	return float64(max(v[0], v[1])) > 1.25*float64(min(v[0], v[1]))
}
