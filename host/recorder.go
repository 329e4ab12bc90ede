package host

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"opcycle/rt"
)

// recorder passes every question on to another source and keeps the answers, failed ones
// too. What is asked again gets the same answer: /proc/interrupts counts on, and a replay
// has one text of it. It is for one goroutine.
type recorder struct {
	source
	files  map[string][]byte
	links  map[string]string
	lists  map[string][]string
	there  map[string]bool
	failed map[call]failure
}

// call is one question.
type call struct{ what, name string }

// The questions, as the manifest of a capture calls them.
const (
	callRead = "read"
	callList = "list"
	callLink = "link"
	callSeen = "seen"
)

// failure is why a question had no answer, as the kernel named and worded it. A replay
// gives it back on any system, whose numbers and words may be others.
type failure struct{ errno, text string }

func (f failure) Error() string { return f.text }

// Is makes errors.Is work with fs.ErrNotExist, fs.ErrPermission and the errno itself.
func (f failure) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return f.errno == "ENOENT"
	case fs.ErrPermission:
		return f.errno == "EACCES" || f.errno == "EPERM"
	case syscall.ESRCH: // has no name outside Linux
		return f.errno == "ESRCH"
	}
	return f.errno == rt.ErrnoName(target)
}

func failureOf(err error) failure {
	var known failure
	if errors.As(err, &known) { // a replay is recorded
		return known
	}
	f := failure{rt.ErrnoName(err), bare(err).Error()}
	if f.errno == "?" { // no kernel said so: its words are its name
		f.errno = f.text
	}
	return f
}

func record(s source) *recorder {
	return &recorder{source: s, files: map[string][]byte{}, links: map[string]string{},
		lists: map[string][]string{}, there: map[string]bool{}, failed: map[call]failure{}}
}

// ask is a question's answer: the one that was kept, else the source's, which is kept.
func ask[T any](r *recorder, what, name string, kept map[string]T, source func(string) (T, error)) (T, error) {
	answer, ok := kept[name]
	if ok {
		return answer, nil
	}
	if f, ok := r.failed[call{what, name}]; ok {
		return answer, &fs.PathError{Op: what, Path: "/" + name, Err: f}
	}
	answer, err := source(name)
	if err != nil {
		r.failed[call{what, name}] = failureOf(err)
		return answer, err
	}
	kept[name] = answer
	return answer, nil
}

func (r *recorder) read(name string) ([]byte, error) {
	return ask(r, callRead, name, r.files, r.source.read)
}

func (r *recorder) list(name string) ([]string, error) {
	return ask(r, callList, name, r.lists, r.source.list)
}

func (r *recorder) link(name string) (string, error) {
	return ask(r, callLink, name, r.links, r.source.link)
}

func (r *recorder) seen(name string) error {
	_, err := ask(r, callSeen, name, r.there, func(name string) (bool, error) { return true, r.source.seen(name) })
	return err
}

// proc is not direct: what procfs is about to parse is read here first. NB: so it is read
// twice, and a recording is of the first time.
func (r *recorder) proc() (string, bool) {
	folder, _ := r.source.proc()
	return folder, false
}

// failures are the failed questions by question and errno, names sorted, and each errno's
// words.
func (r *recorder) failures() (map[string]map[string][]string, map[string]string) {
	out, words := map[string]map[string][]string{}, map[string]string{}
	calls := slices.SortedFunc(maps.Keys(r.failed), func(a, b call) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.what, b.what))
	})
	for _, c := range calls {
		f := r.failed[c]
		if out[c.what] == nil {
			out[c.what] = map[string][]string{}
		}
		out[c.what][f.errno] = append(out[c.what][f.errno], c.name)
		words[f.errno] = f.text
	}
	return out, words
}
