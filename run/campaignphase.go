package run

import (
	"fmt"
	"strconv"
	"strings"

	"opcycle/bench"

	"go.yaml.in/yaml/v3"
)

// campaign reads the document.
func (d *campaignDecoder) campaign(c *Campaign, n *yaml.Node) {
	var defaults []said
	var phases *yaml.Node
	for _, s := range d.keys("", n) {
		switch s.key {
		case "name":
			if text, ok := d.text(s); ok {
				c.Name = text
			}
		case "checkpoint":
			d.checkpoint(c, s)
		case "cores":
			d.cores(c, s)
		case "defaults":
			defaults = d.keys(s.path, s.v)
		case "phases":
			phases = s.v
			switch {
			case s.v.Kind != yaml.SequenceNode:
				d.complain(s.k.Line, s.path, "a list of phases is expected, not "+kindOf(s.v), "write \"- suite: NAME\" for each")
			case len(s.v.Content) == 0:
				d.complain(s.k.Line, s.path, "the list is empty", "write \"- suite: NAME\" for each")
			}
		default:
			d.complain(s.k.Line, s.path, "unknown key", bench.Suggest(s.key, []string{"name", "checkpoint", "cores", "defaults", "phases"}))
		}
	}
	switch {
	case phases == nil:
		if n.Kind == yaml.MappingNode {
			d.complain(n.Line, "phases", "there are none", "write \"phases:\" and \"- suite: NAME\" for each")
		}
	case phases.Kind == yaml.SequenceNode:
		d.phases(c, defaults, phases)
	}
}

func (d *campaignDecoder) checkpoint(c *Campaign, s said) {
	text, ok := d.text(s)
	if !ok {
		return
	}
	err := bench.DurationOption(s.key, &c.Every, checkpointLeast, "").Set(text)
	if err == nil && c.Every > checkpointMost {
		err = fmt.Errorf("%s would lose too much; use %s or less", c.Every, checkpointMost)
	}
	d.option(s, err)
}

// option complains about a value that its option refused.
func (d *campaignDecoder) option(s said, err error) {
	if err != nil {
		what, way, _ := strings.Cut(err.Error(), "; ")
		d.complain(s.v.Line, s.path, what, way)
	}
}

func (d *campaignDecoder) cores(c *Campaign, group said) {
	roles := map[string]*[]int{"measured": &c.Cores.Measured, "noise": &c.Cores.Noise, "housekeeping": &c.Cores.Housekeeping}
	for _, s := range d.keys(group.path, group.v) {
		role, ok := roles[s.key]
		if !ok {
			d.complain(s.k.Line, s.path, "unknown key", bench.Suggest(s.key, []string{"measured", "noise", "housekeeping"}))
			continue
		}
		c.lines[s.path] = s.k.Line
		text, ok := d.text(s)
		if !ok || text == "auto" {
			continue
		}
		if err := bench.CPUOption(s.key, role, "").Set(text); err != nil {
			d.option(s, fmt.Errorf("%w, or auto", err))
		}
	}
}

// phases reads the list. A default goes to every phase whose suite has it.
func (d *campaignDecoder) phases(c *Campaign, defaults []said, list *yaml.Node) {
	used := map[string]bool{}
	labels := map[string]int{}
	known := 0
	for i, n := range list.Content {
		path := "phases[" + strconv.Itoa(i) + "]"
		p, own := d.phase(path, n)
		if p.Runner == nil {
			continue
		}
		known++
		d.apply(p, defaults, func(s said) { used[s.key] = true }, nil)
		d.apply(p, own, nil, func(s said, names []string) {
			d.complain(s.k.Line, s.path, "suite "+p.Suite.Name+" has no such option", bench.Suggest(s.key, names))
		})
		name := p.Suite.Name + ", " + p.Label
		if at := labels[name]; at > 0 {
			d.complain(n.Line, path, fmt.Sprintf("suite and label are those of line %d", at), "give each phase of a suite a label of its own")
		}
		labels[name] = n.Line
		c.Phases = append(c.Phases, p)
	}
	for _, s := range defaults {
		if !used[s.key] && known == len(list.Content) {
			d.complain(s.k.Line, s.path, "no suite of this campaign has such an option", bench.Suggest(s.key, c.optionNames()))
		}
	}
}

func (c *Campaign) optionNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range c.Phases {
		for _, o := range p.Table() {
			if !seen[o.Name] {
				seen[o.Name] = true
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// phase reads suite and label; the rest are options.
func (d *campaignDecoder) phase(path string, n *yaml.Node) (CampaignPhase, []said) {
	var p CampaignPhase
	var own []said
	before := len(d.complaints)
	for _, s := range d.keys(path, n) {
		switch s.key {
		case "label":
			if text, ok := d.text(s); ok {
				p.Label = text
			}
		case "suite":
			if text, ok := d.text(s); ok {
				p.Suite = d.find(s, text)
			}
		default:
			own = append(own, s)
		}
	}
	if p.Suite.New != nil {
		o := DefaultSuiteOptions()
		p.Runner, p.Options = p.Suite.New(), &o
	} else if len(d.complaints) == before {
		d.complain(n.Line, path, "no suite is named", "write suite: NAME; \"opcycle suite\" lists them")
	}
	return p, own
}

func (d *campaignDecoder) find(s said, name string) bench.Suite {
	var names []string
	for _, suite := range d.suites {
		if suite.Name == name {
			return suite
		}
		names = append(names, suite.Name)
	}
	d.complain(s.v.Line, s.path, fmt.Sprintf("no suite is called %q", name), bench.Suggest(name, names))
	return bench.Suite{}
}

// apply sets options of p. has is told of those that p has, lacks of the others; a value
// that is refused is complained about once, however many phases have it.
func (d *campaignDecoder) apply(p CampaignPhase, keys []said, has func(said), lacks func(said, []string)) {
	options := map[string]bench.Option{}
	var names []string
	for _, o := range p.Table() {
		options[o.Name] = o
		names = append(names, o.Name)
	}
	for _, s := range keys {
		o, ok := options[s.key]
		switch {
		case !ok && lacks != nil:
			lacks(s, names)
		case ok && has != nil:
			has(s)
		}
		if !ok || d.refused[s.k] {
			continue
		}
		before := len(d.complaints)
		if text, ok := d.text(s); ok && text != o.Get() {
			d.option(s, o.Set(text))
		}
		if len(d.complaints) > before {
			d.refused[s.k] = true
		}
	}
}
