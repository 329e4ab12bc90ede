package configs

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

var update = flag.Bool("update", false, "write the schema")

// schema makes JSON Schema of Go types as encoding/json writes them: the published schema
// is a golden of the words in bench, so that neither can change without the other.
type schema struct{ defs map[string]any }

func (s *schema) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.of(t.Elem()))
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": s.of(t.Elem())}
	case reflect.Struct:
		s.define(t)
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	}
	panic("no JSON Schema for " + t.String())
}

func nullable(s map[string]any) map[string]any {
	if t, ok := s["type"].(string); ok {
		s["type"] = []string{t, "null"}
		return s
	}
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

func (s *schema) define(t reflect.Type) {
	if s.defs[t.Name()] != nil {
		return
	}
	properties, required := map[string]any{}, []string{}
	object := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	s.defs[t.Name()] = object
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			panic(t.Name() + "." + f.Name + " has no JSON name")
		}
		properties[name] = s.of(f.Type)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	object["required"] = required
}

// TestSchema holds configs/result.schema.json against bench.File.
func TestSchema(t *testing.T) {
	s := schema{defs: map[string]any{}}
	s.define(reflect.TypeFor[bench.File]())
	whole := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "opcycle result, run.json",
		"description": "What a run measured. Times in ns, instants of releases in ns since the first due time, " +
			"null is unknown. Every figure is defined in the README and in bench/file.go.",
		"$ref": "#/$defs/File", "$defs": s.defs,
	}
	got, err := json.MarshalIndent(whole, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const path = "result.schema.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is not of bench.File any more: go test ./configs -update, and raise bench.Schema if an old result would be read wrongly", path)
	}
}
