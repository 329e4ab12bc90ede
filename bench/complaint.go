package bench

import (
	"fmt"
	"strings"
)

// Complaint is one thing that is wrong with a configuration, where it was said and the
// way out.
type Complaint struct {
	Where string // "file:line", "--flag" or "file"
	Key   string // path of the key, "plc.interval"; empty: the document as a whole
	What  string
	Way   string
}

// Error prints "file:line: key.path: what; way out".
func (c Complaint) Error() string {
	s := c.Where + ": "
	if c.Key != "" {
		s += c.Key + ": "
	}
	s += c.What
	if c.Way != "" {
		s += "; " + c.Way
	}
	return s
}

// Complaints is everything that is wrong, in the order of the document, then of the rules.
type Complaints []Complaint

// Error prints one complaint a line.
func (c Complaints) Error() string {
	lines := make([]string, len(c))
	for i, e := range c {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes each complaint visible to errors.As.
func (c Complaints) Unwrap() []error {
	out := make([]error, len(c))
	for i, e := range c {
		out[i] = e
	}
	return out
}

// err is nil when there is nothing to complain about.
func (c Complaints) err() error {
	if len(c) == 0 {
		return nil
	}
	return c
}

// Origins remembers where each key of a configuration was said, so that a complaint about
// two keys can name both places. The zero value knows nothing but defaults. It is owned by
// whoever decodes, and read only from Validate on.
type Origins struct {
	file   string
	lines  map[string]int
	flags  map[string]string
	broken map[string]bool
}

// Flag notes that the value of key came from flag ("--interval").
func (o *Origins) Flag(key, flag string) {
	if o.flags == nil {
		o.flags = map[string]string{}
	}
	o.flags[key] = flag
	delete(o.broken, key)
}

// At says where the value of key was said: "--flag", "file:line" or "default".
func (o *Origins) At(key string) string {
	if f := o.flags[key]; f != "" {
		return f
	}
	if l := o.lines[key]; l > 0 {
		return fmt.Sprintf("%s:%d", o.file, l)
	}
	return "default"
}

// Said is true when key was given by the file or a flag.
func (o *Origins) Said(key string) bool { return o.flags[key] != "" || o.lines[key] > 0 }

// line notes where the file says key.
func (o *Origins) line(key string, n int) {
	if o.lines == nil {
		o.lines = map[string]int{}
	}
	o.lines[key] = n
}

// reject notes that the value of key could not be read, so that no rule judges the
// default that stands in its place.
func (o *Origins) reject(key string) {
	if o.broken == nil {
		o.broken = map[string]bool{}
	}
	o.broken[key] = true
}

// usable is true when every key could be read.
func (o *Origins) usable(keys ...string) bool {
	for _, k := range keys {
		if o.broken[k] {
			return false
		}
	}
	return true
}

// place is where a complaint about key stands: its own origin, or the file when the key
// was left at its default.
func (o *Origins) place(key string) string {
	if o.Said(key) {
		return o.At(key)
	}
	if o.file != "" {
		return o.file
	}
	return "default"
}
