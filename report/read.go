package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"opcycle/bench"
)

// toolName is what Tool.Name of our results says.
const toolName = "opcycle"

// Read decodes a result as run writes it (run.json), part by part: of a list, one element
// at a time is held as text. A file that is cut off, of another schema, not ours, or with a
// field that this program does not know is an error that says so, since a report of half a
// file would look like a report.
func Read(r io.Reader) (bench.File, error) {
	var f bench.File
	in := &counted{r: r}
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if t, err := d.Token(); err == io.EOF {
		return f, errors.New("read the result: it is empty; measure again with opcycle run, or name another run.json")
	} else if err != nil {
		return f, readError(d, in, err)
	} else if t != json.Delim('{') {
		return f, notOurs(fmt.Errorf("it is no JSON object, but begins with %v", t))
	}
	unread, err := readParts(d, partsOf(&f))
	if err != nil {
		return f, readError(d, in, err)
	}
	if f.Schema < 1 || f.Tool.Name != toolName {
		return f, notOurs(fmt.Errorf("it is JSON with schema %d and tool %q", f.Schema, f.Tool.Name))
	}
	if f.Schema > bench.Schema {
		return f, fmt.Errorf("read the result: it has schema %d, this program reads up to %d; use %s %s or later",
			f.Schema, bench.Schema, toolName, f.Tool.Version)
	}
	if unread != nil {
		return f, fmt.Errorf("read the result of schema %d: %w; use the version that wrote it (%s)", f.Schema, unread, f.Tool.Version)
	}
	return f, nil
}

// partsOf are the fields of f by their JSON names, as pointers.
func partsOf(f *bench.File) map[string]any {
	out := map[string]any{}
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		out[name] = v.Field(i).Addr().Interface()
	}
	return out
}

// readParts reads an object behind its brace to the end of the input. unread is the first
// part that is JSON and does not fit: by then it is not known whether the file is ours, or
// newer, which says more; err is what is no JSON.
func readParts(d *json.Decoder, parts map[string]any) (unread, err error) {
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // what else could stand there is a syntax error
		part, known := parts[name]
		if !known || unread != nil && name != "schema" && name != "tool" {
			if unread == nil {
				unread = fmt.Errorf("json: unknown field %q", name)
			}
			part = new(json.RawMessage)
		}
		if err := readPart(d, part); unfit(err) {
			unread = errors.Join(unread, err)
		} else if err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.Join(errors.New("something stands behind its end"), err)
	}
	return unread, nil
}

// unfit tells JSON that does not fit from what is no JSON, and from a reader that fails.
func unfit(err error) bool {
	var kind *json.UnmarshalTypeError
	return errors.As(err, &kind) || err != nil && strings.HasPrefix(err.Error(), "json: unknown field")
}

// readPart decodes the next value into the pointer part, a list element by element.
func readPart(d *json.Decoder, part any) error {
	list := reflect.ValueOf(part).Elem()
	if list.Kind() != reflect.Slice || list.Type().Elem().Kind() == reflect.Uint8 {
		return d.Decode(part)
	}
	t, err := d.Token()
	switch {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t != json.Delim('['):
		if err := skip(d, t); err != nil {
			return err
		}
		return &json.UnmarshalTypeError{Value: fmt.Sprint(t), Type: list.Type(), Offset: d.InputOffset()}
	}
	list.Set(reflect.MakeSlice(list.Type(), 0, 0))
	var first error
	for d.More() {
		list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
		err := d.Decode(list.Index(list.Len() - 1).Addr().Interface())
		if err != nil && !unfit(err) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return err
	}
	return first
}

// skip reads what follows t up to the end of its object.
func skip(d *json.Decoder, t json.Token) (err error) {
	for depth := 0; err == nil; t, err = d.Token() {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
	return err
}

// counted knows how many bytes were read of r.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// readError tells a file that ends too early from one that never was JSON.
func readError(d *json.Decoder, in *counted, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("read the result: it is cut off after %d bytes (%w); copy the whole file, or measure again with opcycle run", in.n, err)
	case errors.As(err, &syntax):
		return fmt.Errorf("read the result: it is no JSON at byte %d (%w); name the run.json in the folder that opcycle run printed", d.InputOffset()+1, err)
	}
	return fmt.Errorf("read the result at byte %d: %w", d.InputOffset()+1, err)
}

// notOurs is the error of a file of somebody else.
func notOurs(why error) error {
	return fmt.Errorf("read the result: not a result of %s: %w; name the run.json in the folder that opcycle run printed", toolName, why)
}
