package client

import (
	"context"
	"fmt"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// State asks the server at endpoint for its ServerState (OPC 10000-5, 12.6), in a session of
// its own that ends with the answer. cold.
//
// https://reference.opcfoundation.org/Core/Part5/v105/docs/12.6
func State(ctx context.Context, endpoint string) (ua.ServerState, error) {
	opc, err := opcua.NewClient(endpoint, opcua.AutoReconnect(false), opcua.SecurityMode(ua.MessageSecurityModeNone))
	if err != nil {
		return ua.ServerStateUnknown, fmt.Errorf("opc ua client for %s: %w", endpoint, err)
	}
	if err := opc.Connect(ctx); err != nil {
		return ua.ServerStateUnknown, fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	defer opc.Close(context.WithoutCancel(ctx))
	v, err := opc.Node(ua.NewNumericNodeID(0, id.Server_ServerStatus_State)).Value(ctx)
	if err != nil {
		return ua.ServerStateUnknown, fmt.Errorf("read the state of %s: %w", endpoint, err)
	}
	state, ok := v.Value().(int32) // an Enumeration is an Int32 on the wire
	if !ok {
		return ua.ServerStateUnknown, fmt.Errorf("%s says its state as %T, not as an enumeration", endpoint, v.Value())
	}
	return ua.ServerState(state), nil
}
