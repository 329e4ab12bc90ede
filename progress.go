package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"opcycle/bench"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows where a run is: a bar on a terminal, else a line per phase and one every
// ten seconds of a phase, less often the longer it takes.
type progress struct {
	w           io.Writer
	bar         *progressbar.ProgressBar // nil: no terminal
	phase       string
	since, next time.Time // since: the phase began
}

// steps is the resolution of the bar.
const steps = 1000

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(true))
	}
	return p
}

// show is called by the conductor, at most ten times a second.
func (p *progress) show(now bench.Progress) {
	text := fmt.Sprintf("%-8s", now.Phase)
	if now.Text != "" {
		text += " " + now.Text
	}
	if p.bar == nil {
		p.line(now, text)
		return
	}
	if now.Phase != p.phase {
		p.phase = now.Phase
		p.bar.Reset()
	}
	p.bar.Describe(text)
	_ = p.bar.Set(int(min(max(now.Share, 0), 0.999) * steps)) // a bar that cannot draw stops nothing
}

func (p *progress) line(now bench.Progress, text string) {
	at := time.Now()
	switch {
	case now.Phase != p.phase:
		p.phase, p.since = now.Phase, at
	case at.Before(p.next):
		return
	}
	p.next = at.Add(min(max(at.Sub(p.since)/30, 10*time.Second), 10*time.Minute))
	if now.Share > 0 {
		text = fmt.Sprintf("%s (%.0f %%)", text, 100*now.Share)
	}
	fmt.Fprintln(p.w, text)
}

// end takes the bar off the terminal.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
