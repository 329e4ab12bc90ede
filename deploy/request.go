package deploy

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"opcycle/bench"
)

// Request is what is to be deployed: a plan, and what a container needs to know beyond it.
type Request struct {
	Plan    bench.Plan
	Profile Profile
	// Flags are the overrides of the profile that were given, in the order of bench.Flags,
	// then --budget and --with.
	Flags []Flag

	Image    string // empty: DefaultImage, or DefaultTools where the plan starts a program
	Results  string // folder of the host; empty: DefaultResults
	Split    bool   // server and client in a container each, on a network; else one container
	Rootless bool   // Podman of a user: everything works, nothing is real-time
	Upload   string // where the result is sent too; empty: nowhere

	// Side is the end that runs here, of a run between two hosts: SideServer waits for the plan
	// that SideClient brings. Empty: both ends are here. Podman and Quadlet only.
	Side string
	// Server is where SideClient finds the other host, opc.tcp://HOST:PORT.
	Server string
}

// The sides of a run between two hosts.
const (
	SideServer = "server"
	SideClient = "client"
)

// Profile is where the plan comes from.
type Profile struct {
	Name string // of a shipped one, or of the file, for the reader
	Path string // of a file, absolute; empty: shipped, the image has it
	Text string // of the file
}

// Flag is one flag of run.
type Flag struct{ Name, Value string }

// What a request is filled up with.
const (
	DefaultImage   = "localhost/opcycle:latest"
	DefaultTools   = "localhost/opcycle-tools:latest"
	DefaultResults = "/var/lib/opcycle"
)

// File is a text with the name that it is to be stored by.
type File struct{ Name, Text string }

// The places inside a container, and the port of a server there.
const (
	resultsInside = "/results"
	profileInside = "/profile/profile.yaml"
	port          = "4840"
)

// imageName is what a registry takes as a reference: nothing in it needs quoting anywhere.
var imageName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._:/@-]*$`)

// filled is r with its defaults. Complaints come all at once.
func (r Request) filled() (Request, error) {
	if r.Image == "" {
		r.Image = DefaultImage
		if r.programs() {
			r.Image = DefaultTools
		}
	}
	if r.Results == "" {
		r.Results = DefaultResults
	}
	var errs []error
	if !imageName.MatchString(r.Image) {
		errs = append(errs, fmt.Errorf("--image %q is no name of an image; write REGISTRY/NAME:TAG, letters, digits and . _ - : / @ only", r.Image))
	}
	errs = append(errs, checkPath("--results", r.Results), checkPath("the profile", r.Profile.Path), r.checkRootless(), r.checkSplit(), r.checkSide())
	r.Results = path.Clean(r.Results)
	for _, word := range r.texts() {
		errs = append(errs, checkText(word))
	}
	return r, errors.Join(errs...)
}

// checkPath refuses what a mount of Podman can't name.
func checkPath(what, p string) error {
	switch {
	case p == "":
		return nil
	case !path.IsAbs(p):
		return fmt.Errorf("%s %q is not absolute; a container runtime knows no working folder: begin with /", what, p)
	case strings.Contains(p, ":"):
		return fmt.Errorf("%s %q has a colon, which ends a path in a mount of Podman; choose another folder", what, p)
	case path.Clean(p) == "/":
		return fmt.Errorf("%s is the whole file system; name a folder of its own", what)
	}
	if err := checkText(p); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// checkText refuses what ends a line or has no letter: no form can carry it.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is no UTF-8 text; choose another name", s)
	}
	for _, c := range s {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || c == '\ufeff' {
			return fmt.Errorf("%q has a control character or a line's end; choose another name", s)
		}
	}
	return nil
}

// checkRootless refuses what only root can have.
func (r *Request) checkRootless() error {
	if !r.Rootless {
		return nil
	}
	var errs []error
	if r.Plan.RT == bench.RTRequire {
		errs = append(errs, errors.New("rt: require can't be held rootless; leave --rootless out, or take --rt auto, which goes on and says what was not had"))
	}
	if r.Plan.Trace != nil {
		errs = append(errs, errors.New("tracing can't be had rootless: tracefs is root's; leave one of both out"))
	}
	if r.Plan.CAT != nil {
		errs = append(errs, errors.New("cat can't be had rootless: resctrl is root's; leave one of both out"))
	}
	return errors.Join(errs...)
}

// programs tells whether the plan starts a program that only the image with tools has.
func (r *Request) programs() bool {
	for _, b := range r.Plan.Beside {
		if b.Suite == bench.SuiteStress {
			return true
		}
	}
	return false
}

// texts is what the user wrote and a form repeats.
func (r *Request) texts() []string {
	out := append([]string{r.Upload, r.Server, r.Plan.Out, r.Plan.Name}, r.Plan.Budgets...)
	for _, f := range r.Flags {
		out = append(out, f.Value)
	}
	return out
}
