package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decode reads a profile over the defaults. It refuses unknown and repeated keys, wrong
// types and further documents, every complaint at once (Complaints); the Config holds
// whatever could be read even then, and Validate judges only that, so that a caller can
// join the complaints of both.
//
// NB: the tree is walked by hand: the library's strict mode names neither file nor path
// and stops at the first bad value of a type that reads itself.
func Decode(file string, data []byte) (Config, Origins, error) {
	c := Defaults()
	d := decoder{origins: Origins{file: file}, keys: keysOf(&c)}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return c, d.origins, nil
	case err != nil:
		d.syntax(err)
		return c, d.origins, d.complaints.err()
	}
	d.mapping("", doc.Content[0])
	normalise(&c)
	if err := dec.Decode(&more); err == nil {
		d.complain(more.Line, "", "a second document begins here", "keep one profile a file")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	slices.SortStableFunc(d.found, func(a, b located) int { return a.line - b.line })
	for _, f := range d.found {
		d.complaints = append(d.complaints, f.Complaint)
	}
	return c, d.origins, d.complaints.err()
}

// normalise writes words in the one spelling that everything downstream knows.
func normalise(c *Config) { c.PLC.Workload = strings.ToUpper(c.PLC.Workload) }

type located struct {
	Complaint
	line int
}

type decoder struct {
	origins    Origins
	keys       map[string]reflect.Value // leaves and groups by path
	found      []located
	complaints Complaints
}

func (d *decoder) complain(line int, key, what, way string) {
	where := fmt.Sprintf("%s:%d", d.origins.file, line)
	d.found = append(d.found, located{Complaint{where, key, what, way}, line})
	if key != "" {
		d.origins.reject(key)
	}
}

var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntax turns the library's only message into ours.
func (d *decoder) syntax(err error) {
	text := err.Error()
	where := d.origins.file
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		where += ":" + m[1]
		text = text[len(m[0]):]
	}
	text = strings.TrimPrefix(text, "yaml: ")
	d.complaints = append(d.complaints, Complaint{where, "", "not YAML: " + text, "mind the indentation and the space after each colon"})
}

// mapping reads one group of keys.
func (d *decoder) mapping(path string, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if path == "" && n.ShortTag() == "!!null" {
		return // only comments
	}
	if n.Kind != yaml.MappingNode {
		what := "a group of keys is expected, not " + kindOf(n)
		d.complain(n.Line, path, what, "write keys below it, such as "+d.children(path)[0]+": …")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key := k.Value
		if path != "" {
			key = path + "." + k.Value
		}
		if at := seen[key]; at > 0 {
			d.complain(k.Line, key, fmt.Sprintf("said before, in line %d", at), "keep one of the two")
			continue
		}
		seen[key] = k.Line
		d.key(path, key, k, v)
	}
}

// key reads one key of a group.
func (d *decoder) key(path, key string, k, v *yaml.Node) {
	field, ok := d.keys[key]
	if !ok || k.Kind != yaml.ScalarNode {
		d.unknown(path, key, k)
		return
	}
	if isGroup(field.Type()) {
		d.mapping(key, v)
		return
	}
	d.origins.line(key, k.Line)
	if v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	if v.Kind == yaml.SequenceNode {
		for i, e := range v.Content {
			d.origins.line(fmt.Sprintf("%s[%d]", key, i), e.Line)
		}
	}
	if what, way := setLeaf(field, v); what != "" {
		d.complain(v.Line, key, what, way)
	}
}

// unknown complains about a key that does not exist here, naming the nearest that does.
func (d *decoder) unknown(path, key string, k *yaml.Node) {
	var full []string
	for p := range d.keys {
		full = append(full, p)
	}
	slices.Sort(full)
	last := k.Value
	for _, p := range full { // the right name in the wrong group
		if p == last || strings.HasSuffix(p, "."+last) {
			d.complain(k.Line, key, "unknown key", "it exists as "+p)
			return
		}
	}
	words := d.children(path)
	for i := range words {
		if path != "" {
			words[i] = path + "." + words[i]
		}
	}
	d.complain(k.Line, key, "unknown key", Suggest(key, words))
}

// children returns the names of the keys directly below path, sorted.
func (d *decoder) children(path string) []string {
	var out []string
	for p := range d.keys {
		dir, name := "", p
		if i := strings.LastIndexByte(p, '.'); i >= 0 {
			dir, name = p[:i], p[i+1:]
		}
		if dir == path {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// keysOf returns every key path of c with the field behind it.
func keysOf(c *Config) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			path := prefix + v.Type().Field(i).Tag.Get("yaml")
			out[path] = v.Field(i)
			if isGroup(v.Field(i).Type()) {
				walk(path+".", v.Field(i))
			}
		}
	}
	walk("", reflect.ValueOf(c).Elem())
	return out
}

// isGroup tells a group of keys from a value that reads itself.
func isGroup(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]())
}

// setLeaf reads n into field; what is empty when that went well.
func setLeaf(field reflect.Value, n *yaml.Node) (what, way string) {
	if n.ShortTag() == "!!null" {
		return "no value", "give one, or leave the key out for the default"
	}
	if u, ok := field.Addr().Interface().(yaml.Unmarshaler); ok {
		return setSelf(u, field, n)
	}
	switch field.Kind() {
	case reflect.String:
		if tag := n.ShortTag(); n.Kind != yaml.ScalarNode || (tag != "!!str" && tag != "!!timestamp") {
			return "a text is expected, not " + kindOf(n), "put it in quotes if it is meant as text"
		}
		field.SetString(n.Value)
	case reflect.Int:
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			return "a whole number is expected, not " + kindOf(n), "write digits only"
		}
		field.SetInt(int64(v))
	case reflect.Slice:
		return setTexts(field, n)
	}
	return "", ""
}

// setSelf lets a value read itself; its message already has the form "what; way out".
func setSelf(u yaml.Unmarshaler, field reflect.Value, n *yaml.Node) (what, way string) {
	list := field.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode
	if n.Kind != yaml.ScalarNode && !list {
		return "one value is expected, not " + kindOf(n), "write it behind the colon"
	}
	if err := u.UnmarshalYAML(n); err != nil {
		what, way, _ = strings.Cut(err.Error(), "; ")
	}
	return what, way
}

func setTexts(field reflect.Value, n *yaml.Node) (what, way string) {
	texts := []string{}
	if n.Kind != yaml.SequenceNode {
		return "a list is expected, not " + kindOf(n), `write ["…", "…"], or one "- …" a line`
	}
	for _, e := range n.Content {
		if e.Kind != yaml.ScalarNode || e.ShortTag() != "!!str" {
			return "a list of texts is expected, but it holds " + kindOf(e), "put each entry in quotes"
		}
		texts = append(texts, e.Value)
	}
	field.Set(reflect.ValueOf(texts))
	return "", ""
}

// kindOf names what a node is, for a reader.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return kindOf(n.Alias)
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the truth value " + n.Value
	case "!!null":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}
