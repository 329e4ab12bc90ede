package client

import (
	"context"
	"encoding/json"
	"fmt"

	"opcycle/bench"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// Announced asks the server at endpoint which task it runs. cold.
func Announced(ctx context.Context, endpoint string) (bench.Announcement, error) {
	var a bench.Announcement
	opc, err := opcua.NewClient(endpoint, opcua.AutoReconnect(false), opcua.SecurityMode(ua.MessageSecurityModeNone))
	if err != nil {
		return a, fmt.Errorf("opc ua client for %s: %w", endpoint, err)
	}
	if err := opc.Connect(ctx); err != nil {
		return a, fmt.Errorf("connect to %s: %w; is `opcycle serve` running there?", endpoint, err)
	}
	defer opc.Close(context.WithoutCancel(ctx))
	l := link{opc: opc}
	ns, err := l.namespace(ctx)
	if err != nil {
		return a, fmt.Errorf("%s: %w", endpoint, err)
	}
	v, err := opc.Node(ua.NewStringNodeID(ns, bench.NodePlan)).Value(ctx)
	if err != nil {
		return a, fmt.Errorf("read %s at %s: %w", bench.NodePlan, endpoint, err)
	}
	if err := json.Unmarshal([]byte(v.String()), &a); err != nil {
		return a, fmt.Errorf("%s at %s: %w; is it the same version of opcycle?", bench.NodePlan, endpoint, err)
	}
	return a, nil
}
