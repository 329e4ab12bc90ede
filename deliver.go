package main

import (
	"context"
	"errors"
	"io"
	"os"

	"opcycle/bench"

	"github.com/spf13/cobra"
)

// delivery is what becomes of a result beside its report, as run and measure take it.
type delivery struct {
	node   string // the machine's name in the result; empty: its host name
	upload string
}

// deliveryFlags declares --node and --upload.
func deliveryFlags(cmd *cobra.Command) *delivery {
	d := &delivery{}
	cmd.Flags().StringVar(&d.node, "node", "", "name of this machine in the result, where its host name is a container's (the host name)")
	cmd.Flags().StringVar(&d.upload, "upload", "", `send the result too, by HTTP PUT: https://HOST/FOLDER/ (all files, into <folder of the result>/ there), the URL
of one object (run.json), or env:NAME, such a URL in the environment; headers by `+uploadHeader)
	return d
}

// into adds the delivery to outputs; ctx ends it.
func (d *delivery) into(ctx context.Context, out outputs, stderr io.Writer) (outputs, error) {
	p, err := readUpload(d.upload, os.Getenv, stderr)
	if err != nil {
		return out, err
	}
	out.name = func(h *bench.Host) {
		if d.node != "" {
			h.Name = d.node
		}
	}
	if p != nil && !p.folder() {
		out.single = "--upload names one object, which holds one result; end the URL of a folder in /"
	}
	if p != nil {
		out.after = func(dir, below string, err error) error { return deliver(ctx, p.in(below), dir, err) }
	}
	return out, nil
}

// deliver sends the result of a report that ended with err. What was not measured is a
// result too; what could not be reported is not sent.
func deliver(ctx context.Context, p *upload, dir string, err error) error {
	var v verdict
	if err != nil && !errors.As(err, &v) {
		return err
	}
	if sent := p.send(ctx, dir); sent != nil {
		return sent
	}
	return err
}
