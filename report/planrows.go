package report

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"opcycle/bench"
)

// planRows are the keys of a plan by their names in run.json, with units.
func planRows(p bench.Plan) [][]string {
	return keysOf("", reflect.ValueOf(p))
}

// keysOf are the keys below a value, a struct's by the JSON names of its fields.
func keysOf(name string, v reflect.Value) [][]string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return [][]string{{name, x.String()}}
	case []int:
		return [][]string{{name, listed(strings.Fields(bench.CPUList(x).String()))}}
	case []string:
		return [][]string{{name, listed(x)}}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return [][]string{{name, "off"}}
		}
		return keysOf(name, v.Elem())
	case reflect.Slice:
		if v.Len() == 0 {
			return [][]string{{name, "none"}}
		}
		var out [][]string
		for i := range v.Len() {
			out = append(out, keysOf(fmt.Sprintf("%s[%d]", name, i+1), v.Index(i))...)
		}
		return out
	case reflect.Struct:
		var out [][]string
		for i := range v.NumField() {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name != "" {
				key = name + "." + key
			}
			if key == "notes" {
				continue // they stand on their own
			}
			out = append(out, keysOf(key, v.Field(i))...)
		}
		return out
	}
	return [][]string{{name, orNA(fmt.Sprint(v.Interface()))}}
}
