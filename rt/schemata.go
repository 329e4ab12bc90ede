package rt

import (
	"fmt"
	"strconv"
	"strings"
)

// Schemata is a file schemata of resctrl: a line a resource, in the kernel's order.
type Schemata []SchemataLine

// SchemataLine is one resource: "L3", "L3CODE", "MB".
type SchemataLine struct {
	Resource string
	Domains  []Domain // none while the group is being locked into a cache
}

// Domain is the value of one cache, by its id. Ids ascend and may have gaps.
type Domain struct {
	ID    int
	Value string // of caches a mask in hexadecimal, of bandwidth a number
}

// ParseSchemata reads what the kernel prints: "    L3:0=fffff;2=fffff\n    MB:0=100;2=100".
func ParseSchemata(text string) (Schemata, error) {
	var out Schemata
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		resource, values, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("schemata: %q has no colon", line)
		}
		l := SchemataLine{Resource: strings.TrimSpace(resource)}
		if values == "uninitialized" {
			out = append(out, l)
			continue
		}
		for _, d := range strings.Split(strings.TrimSuffix(values, ";"), ";") {
			id, value, ok := strings.Cut(d, "=")
			n, err := strconv.Atoi(strings.TrimSpace(id))
			if !ok || err != nil || n < 0 {
				return nil, fmt.Errorf("schemata: %q in %q is not a cache's id, =, and a value", d, line)
			}
			l.Domains = append(l.Domains, Domain{n, strings.TrimSpace(value)})
		}
		out = append(out, l)
	}
	return out, nil
}

// String is s in the form that the kernel reads.
func (s Schemata) String() string {
	var b strings.Builder
	for _, l := range s {
		b.WriteString(l.Resource)
		for i, d := range l.Domains {
			b.WriteByte(":;"[min(i, 1)])
			fmt.Fprintf(&b, "%d=%s", d.ID, d.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Value is the value of a resource's cache id.
func (s Schemata) Value(resource string, id int) (string, bool) {
	for _, l := range s {
		if l.Resource != resource {
			continue
		}
		for _, d := range l.Domains {
			if d.ID == id {
				return d.Value, true
			}
		}
	}
	return "", false
}

// Mask is the ways of a resource's cache id; false when there are none, or no mask.
func (s Schemata) Mask(resource string, id int) (uint64, bool) {
	text, ok := s.Value(resource, id)
	if !ok {
		return 0, false
	}
	mask, err := strconv.ParseUint(text, 16, 64)
	return mask, err == nil
}

// Set adds or replaces one value.
func (s Schemata) Set(resource string, id int, value string) Schemata {
	for i := range s {
		if s[i].Resource != resource {
			continue
		}
		for j := range s[i].Domains {
			if s[i].Domains[j].ID == id {
				s[i].Domains[j].Value = value
				return s
			}
		}
		s[i].Domains = append(s[i].Domains, Domain{id, value})
		return s
	}
	return append(s, SchemataLine{resource, []Domain{{id, value}}})
}
