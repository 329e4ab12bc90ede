package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"opcycle/bench"

	"go.yaml.in/yaml/v3"
)

// Campaign is suites that run one after the other, as its file says and with every
// default. DecodeCampaign makes it, Resolve gives it CPUs; then it is read only.
type Campaign struct {
	Name   string
	Every  time.Duration // between two checkpoints
	Cores  Cores
	Phases []CampaignPhase

	file  string
	lines map[string]int // of the keys of cores
}

// Cores are CPUs by role; nil = auto, found on the host.
type Cores struct {
	Measured     []int // of the timed threads: the quietest CPU
	Noise        []int // of the stressors: the lowest housekeeping CPU
	Housekeeping []int // of runtime threads and the conductor: all others
}

// CampaignPhase is one run of a suite in a campaign.
type CampaignPhase struct {
	Suite   bench.Suite
	Label   string
	Runner  bench.Runner
	Options *SuiteOptions
}

// Table is every option of the phase: the suite's own, then those of all suites.
func (p CampaignPhase) Table() []bench.Option {
	return append(p.Runner.Options(), p.Options.Table()...)
}

// checkpointMost is "at least every minute" of the promise; checkpointLeast is for tests.
const (
	checkpointMost    = time.Minute
	checkpointLeast   = 10 * time.Millisecond
	checkpointDefault = 30 * time.Second
)

// said is a key and its value in the file.
type said struct {
	key, path string
	k, v      *yaml.Node
}

type campaignDecoder struct {
	file       string
	suites     []bench.Suite
	complaints []bench.Complaint
	at         []int               // line of each complaint
	refused    map[*yaml.Node]bool // defaults complained about already
}

// DecodeCampaign reads a campaign. Its error is every complaint at once, in the order of
// the file (bench.Complaints).
func DecodeCampaign(file string, data []byte, suites []bench.Suite) (Campaign, error) {
	d := &campaignDecoder{file: file, suites: suites, refused: map[*yaml.Node]bool{}}
	base := filepath.Base(file)
	c := Campaign{Name: strings.TrimSuffix(base, filepath.Ext(base)), Every: checkpointDefault, file: file, lines: map[string]int{}}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.complain(1, "", "nothing is in it", "name phases; \"opcycle campaign 48-hour-smoke --dry-run\" prints an example")
	case err != nil:
		d.syntax(err)
	default:
		d.campaign(&c, doc.Content[0])
		if err := dec.Decode(&more); err == nil {
			d.complain(more.Line, "", "a second document begins here", "keep one campaign a file")
		} else if !errors.Is(err, io.EOF) {
			d.syntax(err)
		}
	}
	return c, d.err()
}

func (d *campaignDecoder) complain(line int, key, what, way string) {
	d.complaints = append(d.complaints, bench.Complaint{Where: fmt.Sprintf("%s:%d", d.file, line), Key: key, What: what, Way: way})
	d.at = append(d.at, line)
}

// err is every complaint in the order of the file.
func (d *campaignDecoder) err() error {
	if len(d.complaints) == 0 {
		return nil
	}
	order := make([]int, len(d.at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return d.at[a] - d.at[b] })
	var out bench.Complaints
	for _, i := range order {
		out = append(out, d.complaints[i])
	}
	return out
}

func (d *campaignDecoder) syntax(err error) {
	text, line := err.Error(), 1
	if m := regexp.MustCompile(`^yaml: line (\d+): `).FindString(text); m != "" {
		_, _ = fmt.Sscanf(m, "yaml: line %d", &line) // digits by the pattern
		text = text[len(m):]
	}
	d.complain(line, "", "not YAML: "+strings.TrimPrefix(text, "yaml: "), "mind the indentation and the space after each colon")
}

// keys are the entries of a group of keys, each name once.
func (d *campaignDecoder) keys(path string, n *yaml.Node) []said {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		d.complain(n.Line, path, "a group of keys is expected, not "+kindOf(n), "write them as \"key: value\", one a line")
		return nil
	}
	var out []said
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		s := said{key: n.Content[i].Value, k: n.Content[i], v: n.Content[i+1]}
		if s.v.Kind == yaml.AliasNode {
			s.v = s.v.Alias
		}
		s.path = s.key
		if path != "" {
			s.path = path + "." + s.key
		}
		if at := seen[s.key]; at > 0 {
			d.complain(s.k.Line, s.path, fmt.Sprintf("said before, in line %d", at), "keep one of the two")
			continue
		}
		seen[s.key] = s.k.Line
		out = append(out, s)
	}
	return out
}

// text is a value as an option reads it: a list is its entries with commas.
func (d *campaignDecoder) text(s said) (string, bool) {
	switch {
	case s.v.Kind == yaml.ScalarNode && s.v.ShortTag() != "!!null":
		return s.v.Value, true
	case s.v.Kind == yaml.SequenceNode:
		var parts []string
		for _, e := range s.v.Content {
			if e.Kind != yaml.ScalarNode || e.ShortTag() == "!!null" {
				d.complain(e.Line, s.path, "a list of values is expected, but it holds "+kindOf(e), "write [a, b]")
				return "", false
			}
			parts = append(parts, e.Value)
		}
		return strings.Join(parts, ","), true
	case s.v.Kind == yaml.MappingNode:
		d.complain(s.v.Line, s.path, "one value is expected, not a group of keys", "write it behind the colon")
	default:
		d.complain(s.k.Line, s.path, "no value", "give one, or leave the key out for the default")
	}
	return "", false
}

// kindOf names what a node is, for a reader.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a group of keys"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}
