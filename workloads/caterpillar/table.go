package caterpillar

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"opcycle/bench"
)

// columns are those of the table of samples and of its file, in the order of the vendor's
// program, then ours.
func columns() (names, units []string) {
	return []string{"SampleMin", "SampleMax", "SampleJitter", "SessionMin", "SessionMax", "SessionJitter", "Sample", "SampleSpread",
			"SampleMinTime", "SampleMaxTime", "SampleJitterTime", "SampleTime", "Rests", "LeftOut", "Gaps"},
		[]string{"cycles", "cycles", "cycles", "cycles", "cycles", "cycles", "1", "cycles", "ns", "ns", "ns", "ns", "1", "1", "1"}
}

// values are a sample's in the order of the columns; NaN: not known.
func (s *sample) values() []float64 {
	session := []float64{math.NaN(), math.NaN(), math.NaN()}
	if s.hasSession {
		session = []float64{float64(s.SessionMin), float64(s.SessionMax), s.SessionJitter}
	}
	v := append([]float64{float64(s.Min), float64(s.Max), s.Jitter}, session...)
	return append(v, float64(s.Index), float64(s.Spread), s.ns(float64(s.Min)), s.ns(float64(s.Max)), s.ns(s.Jitter),
		s.NS, float64(s.Rests), float64(s.LeftOut), float64(s.Gaps))
}

func (s *sample) ns(cycles float64) float64 {
	if s.Hz <= 0 {
		return math.NaN()
	}
	return cycles / s.Hz * 1e9
}

// keptRows is how many samples a result holds; a file beside it has them all.
const keptRows = 10_000

// samplesOf is the table of a result.
func samplesOf(samples []sample) *bench.Samples {
	names, units := columns()
	t := bench.Samples{Columns: names, Units: units, LeftOut: int64(max(len(samples)-keptRows, 0))}
	for i := range samples[:min(len(samples), keptRows)] {
		values := samples[i].values()
		line := make([]*float64, len(values))
		for j := range values {
			if !math.IsNaN(values[j]) { // the first sample has no session yet
				line[j] = &values[j]
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return &t
}

// table is the file of samples beside the result. What goes wrong with it costs the file,
// not the run.
type table struct {
	name string
	file io.WriteCloser
	csv  *csv.Writer // nil: there is no file
	err  error
}

// open begins the file. A resumed run begins it anew: its rows are in the checkpoint.
func (t *table) open(name string, create func(string) (io.WriteCloser, error)) error {
	if name == "" || create == nil {
		return nil
	}
	var err error
	if t.file, err = create(name); err != nil {
		return err
	}
	t.name, t.csv = name, csv.NewWriter(t.file)
	names, _ := columns()
	t.note(t.csv.Write(names))
	return nil
}

// write appends a sample and lets the system have it.
func (t *table) write(s *sample) {
	if t.csv == nil || t.err != nil {
		return
	}
	var line []string
	for _, v := range s.values() {
		cell := ""
		if !math.IsNaN(v) {
			cell = strconv.FormatFloat(v, 'f', -1, 64)
		}
		line = append(line, cell)
	}
	t.note(t.csv.Write(line))
	t.csv.Flush()
	t.note(t.csv.Error())
}

func (t *table) note(err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("write %s: %w", t.name, err)
	}
}

// close gives the file its name.
func (t *table) close() {
	if t.file != nil {
		t.note(t.file.Close())
	}
}
