package run

import (
	"fmt"
	"slices"

	"opcycle/bench"
	"opcycle/workloads"
)

// companions starts what the plan puts beside: prepared during the warm-up, framed by the
// measuring phase.
func (s *session) companions() error {
	for _, b := range s.Plan.Beside {
		found, err := workloads.FindBeside(b.Suite)
		if err != nil {
			return err
		}
		suite := Suite{Suite: found, Runner: found.New(), Options: DefaultSuiteOptions(), Host: s.Host, Root: s.Root, Prober: s.Prober, Folder: s.Folder}
		suite.Options.RT = string(s.Plan.RT)
		suite.Options.Housekeeping = s.Plan.Housekeeping.CPUs
		suite.Options.CPUs = s.taskCPU()
		for _, set := range b.Settings {
			if err := setOption(append(suite.Runner.Options(), suite.Options.Table()...), set); err != nil {
				return fmt.Errorf("beside: %s: %w", b.Suite, err)
			}
		}
		s.besides = append(s.besides, startBeside(s.ctx, suite, b.Role))
	}
	return nil
}

// taskCPU is the CPU of the PLC thread; the client's, where the task runs in a server that
// was started by hand, perhaps on another machine.
func (s *session) taskCPU() []int {
	if s.Remote == nil && s.Plan.Task.Host == bench.HostServer {
		return s.Plan.Server.CPUs[:1]
	}
	return s.Plan.Client.CPUs[:1]
}

func setOption(options []bench.Option, set bench.Setting) error {
	i := slices.IndexFunc(options, func(o bench.Option) bool { return o.Name == set.Name })
	if i < 0 {
		return fmt.Errorf("it has no option %q", set.Name)
	}
	if err := options[i].Set(set.Value); err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	return nil
}

// companionsReady ends a run before anything is measured whose companions can't be had: it
// was asked for beside them.
func (s *session) companionsReady() error {
	for _, b := range s.besides {
		select {
		case <-b.done:
			if b.err != nil {
				return fmt.Errorf("beside: %w", b.err)
			}
		default:
		}
	}
	return nil
}

// beginBesides frames what runs beside by the measuring phase, which is announced and
// begins later; endBesides ends it now, when the phase was cut short.
func (s *session) beginBesides(begin, end int64) {
	s.trace.frame(begin)
	for _, b := range s.besides {
		b.frame(begin, end)
	}
}

func (s *session) endBesides() {
	s.trace.end()
	for _, b := range s.besides {
		b.stop()
	}
}

// collectBesides takes the results of what ran beside. Noise that was not there makes the
// run invalid: it was asked for under that noise.
func (s *session) collectBesides() {
	for _, b := range s.besides {
		r := b.collect()
		r.Complete = r.Complete && s.failed == nil // else its frame ended early too
		for _, why := range r.Invalid {
			text := fmt.Sprintf("%s beside this run: %s", r.Suite, why)
			if r.Role == bench.RoleNoise {
				s.invalid(text)
			} else {
				s.warn(text)
			}
		}
		s.file.Suites = append(s.file.Suites, r)
	}
	s.besides = nil
	if s.trace != nil {
		r := s.trace.collect(s.Folder)
		r.Complete = r.Complete && s.failed == nil
		s.file.Suites = append(s.file.Suites, r)
	}
}
