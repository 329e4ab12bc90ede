package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"opcycle/judge"
	"opcycle/report"
)

// nodesOf are the runs of a fleet, where the only argument is a folder that holds results of
// several machines; nil where it is something else.
func nodesOf(args []string) ([]judge.FleetRun, error) {
	if len(args) != 1 {
		return nil, nil
	}
	if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
		return nil, nil // sidesOf says what it is
	}
	var runs []judge.FleetRun
	names := map[string]bool{}
	for _, below := range []string{"*", "*/*"} {
		paths, err := matching(args[0], below)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			f, err := readResult(path)
			if err != nil {
				return nil, err
			}
			r, err := judge.FleetRunOf(path, f)
			if err != nil {
				return nil, err
			}
			if r.Node == "" {
				r.Node = filepath.Base(filepath.Dir(path))
			}
			names[r.Node] = true
			runs = append(runs, r)
		}
	}
	if len(names) < 2 {
		return nil, nil
	}
	return runs, nil
}

// rank ranks the nodes of a fleet. It is not measured when no node has a run that counts.
func (c *comparing) rank(runs []judge.FleetRun) error {
	nodes, left := judge.Fleet(runs, c.rules)
	if err := c.write(func(f report.CompareFormat, w io.Writer) error { return f.Fleet(w, nodes, left) }); err != nil {
		return err
	}
	if len(nodes) == 0 {
		return verdict{exitNotMeasured}
	}
	for _, n := range nodes {
		if c.failOn != "" && string(n.Apart) == c.failOn {
			return verdict{exitFailed}
		}
	}
	return nil
}

// against stands one result beside a vendor's publication.
func (c *comparing) against(args []string, product string) error {
	if len(args) != 1 {
		return fmt.Errorf("--against stands one result beside a publication, %d are named", len(args))
	}
	refs, err := references(product)
	if err != nil {
		return err
	}
	path, err := oneResult(args[0])
	if err != nil {
		return err
	}
	f, err := readResult(path)
	if err != nil {
		return err
	}
	v := judge.Judge(f)
	return c.write(func(form report.CompareFormat, w io.Writer) error { return form.Against(w, f, v, refs) })
}
