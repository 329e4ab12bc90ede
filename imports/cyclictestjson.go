package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// cyclictestFile is the JSON of rt-tests, file_version 1. Two of its keys end in a colon;
// should a later version drop it, both are read. What has other keys is not looked at.
type cyclictestFile struct {
	FileVersion  *int                            `json:"file_version"`
	Command      string                          `json:"cmdline:"`
	CommandNew   string                          `json:"cmdline"`
	Version      string                          `json:"rt_test_version:"`
	VersionNew   string                          `json:"rt_test_version"`
	Start        string                          `json:"start_time"`
	End          string                          `json:"end_time"`
	ReturnCode   int                             `json:"return_code"`
	Threads      *int                            `json:"num_threads"`
	Nanoseconds  int                             `json:"resolution_in_ns"` // 1: every figure is in ns
	ThreadOfName map[string]cyclictestFileThread `json:"thread"`
}

type cyclictestFileThread struct {
	Histogram map[string]int64 `json:"histogram"`
	Cycles    *int64           `json:"cycles"`
	Min       *int64           `json:"min"`
	Max       *int64           `json:"max"`
	Avg       *float64         `json:"avg"`
	CPU       *int             `json:"cpu"`
}

// cyclictestJSON reads what --json writes.
func cyclictestJSON(data []byte) (CyclictestRun, error) {
	var f cyclictestFile
	if err := json.Unmarshal(data, &f); err != nil {
		return CyclictestRun{}, jsonError(data, err)
	}
	switch {
	case f.FileVersion == nil || *f.FileVersion != 1:
		return CyclictestRun{}, fmt.Errorf("line %d: its file_version is not 1, the only one that is known", lineOf(data, `"file_version"`))
	case f.Threads == nil || *f.Threads != len(f.ThreadOfName):
		return CyclictestRun{}, fmt.Errorf("line %d: %d threads are in it, num_threads says otherwise: it was cut short, or is not cyclictest's", lineOf(data, `"num_threads"`), len(f.ThreadOfName))
	}
	run := CyclictestRun{Version: cmp.Or(f.Version, f.VersionNew), Command: cmp.Or(f.Command, f.CommandNew), Returned: f.ReturnCode, Unit: time.Microsecond}
	if f.Nanoseconds != 0 {
		run.Unit = time.Nanosecond
	}
	for _, x := range []struct {
		key, text string
		to        *time.Time
	}{{"start_time", f.Start, &run.Started}, {"end_time", f.End, &run.Ended}} {
		t, err := time.Parse("Mon, 2 Jan 2006 15:04:05 -0700", x.text)
		if err != nil && x.text != "" {
			return run, fmt.Errorf("line %d: %s %q is no time as RFC 2822 writes it", lineOf(data, `"`+x.key+`"`), x.key, x.text)
		}
		*x.to = t.UTC()
	}
	for i := range *f.Threads {
		t, ok := f.ThreadOfName[strconv.Itoa(i)]
		if !ok {
			return run, fmt.Errorf("line %d: there is no thread %d", lineOf(data, `"thread"`), i)
		}
		thread, err := t.thread()
		if err != nil {
			return run, fmt.Errorf("line %d: thread %d: %w", lineOf(data, fmt.Sprintf(`"%d": {`, i)), i, err)
		}
		run.Threads = append(run.Threads, thread)
	}
	return run, nil
}

// thread checks one thread and derives what it lacks.
func (f *cyclictestFileThread) thread() (CyclictestThread, error) {
	t := CyclictestThread{CPU: -1, Overflow: -1}
	if f.Cycles == nil || f.Min == nil || f.Max == nil || f.Avg == nil {
		return t, errors.New("it has to have cycles, min, max and avg")
	}
	t.Cycles, t.Min, t.Max, t.Avg = *f.Cycles, *f.Min, *f.Max, *f.Avg
	if f.CPU != nil {
		t.CPU = *f.CPU
	}
	for key, n := range f.Histogram {
		v, err := strconv.ParseInt(key, 10, 64)
		if err != nil || v < 0 || n < 0 {
			return t, fmt.Errorf("its histogram has %d of %q: no count of a latency", n, key)
		}
		if n > 0 {
			t.Histogram = append(t.Histogram, CyclictestCount{v, n})
		}
	}
	slices.SortFunc(t.Histogram, func(a, b CyclictestCount) int { return cmp.Compare(a.Latency, b.Latency) })
	if err := t.check(); err != nil || len(t.Histogram) == 0 {
		return t, err // nothing but the command line tells whether there was one
	}
	return t, t.derive()
}

// check refuses figures that contradict each other.
func (t *CyclictestThread) check() error {
	switch {
	case t.Cycles < 0:
		return fmt.Errorf("%d cycles", t.Cycles)
	case t.Cycles > 0 && (t.Min < 0 || t.Min > t.Max):
		return fmt.Errorf("a minimum of %d and a maximum of %d", t.Min, t.Max)
	case t.Cycles > 0 && (t.Avg <= float64(t.Min)-1 || t.Avg >= float64(t.Max)+1):
		return fmt.Errorf("an average of %g between %d and %d", t.Avg, t.Min, t.Max)
	}
	return nil
}

// jsonError is err with the number of its line.
func jsonError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", bytes.Count(data[:at], []byte("\n"))+1, err)
}

// lineOf is the number of the first line that holds text; the last where none does.
func lineOf(data []byte, text string) int {
	at := bytes.Index(data, []byte(text))
	if at < 0 {
		at = len(bytes.TrimRight(data, "\n"))
	}
	return bytes.Count(data[:at], []byte("\n")) + 1
}
