package deploy

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// field is a key of a YAML mapping with its value and, behind a string value or above any
// other, its reason.
type field struct {
	key   string
	value any // string, int, bool, []string, or *yaml.Node
	why   string
}

// object is a mapping in the order of its fields. A field with a nil node is left out.
func object(fields ...field) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		v := node(f.value)
		if v == nil {
			continue // there is nothing to say
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.key, HeadComment: f.why}, v)
	}
	return n
}

// list is a sequence.
func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// node is a value as YAML has it; strings are quoted by the encoder where they have to be.
func node(value any) *yaml.Node {
	switch v := value.(type) {
	case *yaml.Node:
		return v
	case string:
		n := &yaml.Node{}
		n.SetString(v)
		return n
	case int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case []string:
		n := list()
		for _, s := range v {
			n.Content = append(n.Content, node(s))
		}
		return n
	}
	panic(fmt.Sprintf("no YAML for a %T", value)) // a mistake of this package
}

// word is a string in a list, with its reason.
func word(s, why string) *yaml.Node {
	n := node(s)
	n.HeadComment = why
	return n
}

// stream is several documents, below a comment.
func stream(head []string, objects ...*yaml.Node) (string, error) {
	var b bytes.Buffer
	for _, line := range head {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	for i, o := range objects {
		if i > 0 {
			b.WriteString("---\n")
		}
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := e.Encode(o); err != nil {
			return "", fmt.Errorf("write the objects: %w", err)
		}
		if err := e.Close(); err != nil {
			return "", fmt.Errorf("write the objects: %w", err)
		}
	}
	return b.String(), nil
}
