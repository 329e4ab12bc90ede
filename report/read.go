package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"opcycle/bench"
)

// toolName is what Tool.Name of our results says.
const toolName = "opcycle"

// Read decodes a result as run writes it (run.json). A file that is cut off, of another
// schema, not ours, or with a field that this program does not know is an error that says
// so, since a report of half a file would look like a report.
func Read(r io.Reader) (bench.File, error) {
	var f bench.File
	data, err := io.ReadAll(r)
	if err != nil {
		return f, fmt.Errorf("read the result: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return f, errors.New("read the result: it is empty; measure again with opcycle run, or name another run.json")
	}
	var head struct {
		Schema int        `json:"schema"`
		Tool   bench.Tool `json:"tool"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return f, readError(data, err)
	}
	if head.Schema < 1 || head.Tool.Name != toolName {
		return f, fmt.Errorf("read the result: it is JSON, but not a result of %s (schema %d, tool %q); name the run.json in the folder that opcycle run printed",
			toolName, head.Schema, head.Tool.Name)
	}
	if head.Schema > bench.Schema {
		return f, fmt.Errorf("read the result: it has schema %d, this program reads up to %d; use %s %s or later",
			head.Schema, bench.Schema, toolName, head.Tool.Version)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return f, fmt.Errorf("read the result of schema %d: %w; use the version that wrote it (%s)", head.Schema, err, head.Tool.Version)
	}
	return f, nil
}

// readError tells a file that ends too early from one that never was JSON.
func readError(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) && data[0] == '{' {
		return fmt.Errorf("read the result: it is cut off after %d bytes (%w); copy the whole file, or measure again with opcycle run", len(data), err)
	}
	if errors.As(err, &syntax) {
		return fmt.Errorf("read the result: it is no JSON at byte %d (%w); name the run.json in the folder that opcycle run printed", syntax.Offset, err)
	}
	return fmt.Errorf("read the result: not a result of %s (%w); name the run.json in the folder that opcycle run printed", toolName, err)
}
