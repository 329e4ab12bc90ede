package cyclictest

import (
	"encoding/json"
	"fmt"
	"time"

	"opcycle/bench"
)

// state is a checkpoint.
type state struct {
	Version  int           `json:"version"`
	Interval time.Duration `json:"interval"`
	Width    int           `json:"width"` // seconds in a block of Seconds
	Threads  []tally       `json:"threads"`
}

// stateVersion is the form of state.
const stateVersion = 2

// resume reads a checkpoint that a run of the same plan left.
func (s *state) resume(data []byte, r *runner, cpus []int) error {
	if err := json.Unmarshal(data, s); err != nil {
		return err
	}
	var of []int
	for i := range s.Threads {
		of = append(of, s.Threads[i].CPU)
	}
	switch width := widthOf(int(r.length() / time.Second)); {
	case s.Version != stateVersion:
		return fmt.Errorf("it has form %d, this program reads %d; begin the run again", s.Version, stateVersion)
	case bench.CPUList(of).String() != bench.CPUList(cpus).String():
		return fmt.Errorf("it is of CPUs %s, this run of %s; measure the same ones", bench.CPUList(of), bench.CPUList(cpus))
	case s.Interval != r.interval || s.Width != width:
		return fmt.Errorf("it has an interval of %s and blocks of %d s, this run %s and %d s; go on with the plan that it is of", s.Interval, s.Width, r.interval, width)
	}
	return nil
}

// checkpoint hands over what was measured so far. What goes wrong is said in the result: a
// disk that is full ends no measurement.
func (m *measurement) checkpoint() {
	if !m.read() {
		m.warn("a checkpoint was left out: a thread was writing at every look")
		return
	}
	data, err := json.Marshal(m.now)
	if err == nil {
		var so bench.SuiteResult
		if so, err = m.result(); err == nil {
			err = m.job.Checkpoint(so, data)
		}
	}
	if err != nil {
		m.warn("a checkpoint could not be kept: " + err.Error())
	}
}
