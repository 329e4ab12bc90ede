package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// The elements of JUnit's XML as CI servers read it: one case a budget, and one for the run
// itself, so that a run without budgets is a test too, and one for each suite in it, which
// is a phase of a campaign.
// https://github.com/testmoapp/junitxml
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Hostname  string      `xml:"hostname,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitReason `xml:"failure"`
	Error   *junitReason `xml:"error"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the verdict as JUnit XML: a budget that failed is a failure, one that could
// not be decided an error, as is a run that is invalid or incomplete. A file without
// failures and errors is a run with exit code 0, and no other.
func JUnit(w io.Writer, f bench.File, v judge.Verdict, _ []bench.Reference) error {
	s := junitSuite{Name: f.Suite, Hostname: f.Host.Name, Time: fmt.Sprintf("%.3f", max(f.Ended.Sub(f.Started), 0).Seconds())}
	if !f.Started.IsZero() {
		s.Timestamp = f.Started.UTC().Format(time.RFC3339)
	}
	s.Cases = append(s.Cases, junitRun(&f, &v))
	for i := range f.Suites {
		s.Cases = append(s.Cases, junitResult(&f, &v, &f.Suites[i]))
	}
	for _, b := range v.Budgets {
		s.Cases = append(s.Cases, junitBudget(&f, &b))
	}
	for _, c := range s.Cases {
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	s.Tests = len(s.Cases)
	all := junitSuites{Name: toolName, Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suites: []junitSuite{s}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitRun is the case of the run itself: that it measured, to its end.
func junitRun(f *bench.File, v *judge.Verdict) junitCase {
	c := junitCase{Name: "valid and complete", Class: class(f), Out: v.Text}
	switch {
	case !v.Valid:
		c.Error = &junitReason{Message: "the run is invalid"}
		for _, r := range v.Reasons {
			c.Error.Text += r + "\n"
		}
	case f.Aborted != nil:
		c.Failure = &junitReason{Message: "the run was ended by a budget that failed: " + f.Aborted.Budget}
	case !v.Complete:
		c.Error = &junitReason{Message: "the run is incomplete: it ended before its plan's end"}
	}
	return c
}

// junitResult is the case of one suite: that it measured to its end, and that what it checks
// itself held. Beside an OPC UA run a suite is noise, and decides nothing.
func junitResult(f *bench.File, v *judge.Verdict, r *bench.SuiteResult) junitCase {
	c := junitCase{Name: judge.Title(r), Class: class(f), Out: strings.Join(r.Summary, "\n")}
	why := strings.Join(r.Invalid, "\n")
	if why == "" && !r.Complete && !v.Complete {
		why = "it ended before its plan's end"
	}
	decides := f.Suite != bench.SuiteOPCUA
	switch {
	case why != "" && decides:
		c.Error = &junitReason{Message: "invalid or incomplete", Text: why}
	case len(r.Failed) > 0 && decides:
		c.Failure = &junitReason{Message: strings.Join(r.Failed, "; ")}
	case why != "" || len(r.Failed) > 0:
		c.Out = strings.TrimSpace(why + "\n" + strings.Join(r.Failed, "\n"))
	}
	return c
}

func junitBudget(f *bench.File, b *judge.Budgeted) junitCase {
	c := junitCase{Name: budgetOf(*b), Class: class(f)}
	measured := found(b.Found)
	if b.Found.OK {
		c.Out = fmt.Sprintf("measured %s, margin %s", measured, signed(figure(b.Margin, b.Found.Unit)))
	}
	switch b.Outcome {
	case judge.Fail:
		c.Failure = &junitReason{Message: "measured " + measured + ", limit " + figure(b.Limit, b.Found.Unit)}
	case judge.Inconclusive:
		c.Error = &junitReason{Message: "inconclusive: " + b.Why}
	}
	return c
}

// class is what a budget's case belongs to: tool, suite and plan.
func class(f *bench.File) string {
	s := toolName + "." + f.Suite
	if f.Plan.Name != "" {
		s += "." + f.Plan.Name
	}
	return s
}
