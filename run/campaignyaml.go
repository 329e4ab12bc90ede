package run

import (
	"bytes"
	"fmt"

	"opcycle/bench"

	"go.yaml.in/yaml/v3"
)

// YAML writes the campaign with every default, as a file that DecodeCampaign makes the
// same campaign of.
func (c *Campaign) YAML() ([]byte, error) {
	phases := &yaml.Node{Kind: yaml.SequenceNode}
	for _, p := range c.Phases {
		n := group("suite", p.Suite.Name, "label", p.Label)
		for _, o := range p.Table() {
			add(n, o.Name, text(o.Get()))
		}
		phases.Content = append(phases.Content, n)
	}
	cores := group("measured", bench.CPUList(c.Cores.Measured).String(), "noise", bench.CPUList(c.Cores.Noise).String(),
		"housekeeping", bench.CPUList(c.Cores.Housekeeping).String())
	doc := group("name", c.Name, "checkpoint", c.Every.String())
	doc.HeadComment = "the campaign on this host, with every default"
	add(doc, "cores", cores)
	add(doc, "phases", phases)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("write the campaign: %w", err)
	}
	return out.Bytes(), e.Close()
}

// group is a mapping of texts.
func group(pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		add(n, pairs[i], text(pairs[i+1]))
	}
	return n
}

func add(n *yaml.Node, key string, v *yaml.Node) { n.Content = append(n.Content, text(key), v) }

// text is a scalar that reads as it is written: bare where it can be, since options read
// texts.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if s == "" || n.ShortTag() == "!!null" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
