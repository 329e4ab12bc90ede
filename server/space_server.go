package server

import (
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// clockSampling is the MinimumSamplingInterval of CurrentTime and ServerStatus, ms: they
// change with every look.
const clockSampling = 1000

// addServer makes the Server object (Part 5, 8.3.2). It advertises only what is true.
func (s *space) addServer(cfg *Config, now time.Time) {
	since := now.UnixNano()/100 + unixEpoch
	srv := s.object(s.std(id.ObjectsFolder), id.Organizes, ua.NewNumericNodeID(0, id.Server), 0, "Server", id.ServerType)
	property := func(parent *node, nodeID uint32, name string, dataType uint32, v any) {
		s.variable(parent, id.HasProperty, ua.NewNumericNodeID(0, nodeID), 0, name, dataType, v, since)
	}
	property(srv, id.Server_ServerArray, "ServerArray", id.String, []string{cfg.ApplicationURI})
	property(srv, id.Server_NamespaceArray, "NamespaceArray", id.String, s.namespaces)
	property(srv, id.Server_ServiceLevel, "ServiceLevel", id.Byte, byte(255))
	property(srv, id.Server_Auditing, "Auditing", id.Boolean, false)
	s.addStatus(cfg, srv, now, since)
	l := cfg.Limits
	caps := s.object(srv, id.HasComponent, ua.NewNumericNodeID(0, id.Server_ServerCapabilities), 0, "ServerCapabilities", id.ServerCapabilitiesType)
	property(caps, id.Server_ServerCapabilities_ServerProfileArray, "ServerProfileArray", id.String,
		[]string{"http://opcfoundation.org/UA-Profile/Server/EmbeddedDataChangeSubscription"})
	property(caps, id.Server_ServerCapabilities_LocaleIDArray, "LocaleIdArray", id.LocaleID, []string{"en"})
	property(caps, id.Server_ServerCapabilities_MinSupportedSampleRate, "MinSupportedSampleRate", id.Duration, milliseconds(cfg.Interval))
	property(caps, id.Server_ServerCapabilities_MaxBrowseContinuationPoints, "MaxBrowseContinuationPoints", id.UInt16, uint16(l.ContinuationPoints))
	property(caps, id.Server_ServerCapabilities_MaxQueryContinuationPoints, "MaxQueryContinuationPoints", id.UInt16, uint16(0))
	property(caps, id.Server_ServerCapabilities_MaxHistoryContinuationPoints, "MaxHistoryContinuationPoints", id.UInt16, uint16(0))
	limits := s.object(caps, id.HasComponent, ua.NewNumericNodeID(0, id.Server_ServerCapabilities_OperationLimits), 0, "OperationLimits", id.OperationLimitsType)
	for _, r := range []struct {
		id   uint32
		name string
	}{
		{id.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead, "MaxNodesPerRead"},
		{id.Server_ServerCapabilities_OperationLimits_MaxNodesPerWrite, "MaxNodesPerWrite"},
		{id.Server_ServerCapabilities_OperationLimits_MaxNodesPerBrowse, "MaxNodesPerBrowse"},
		{id.Server_ServerCapabilities_OperationLimits_MaxNodesPerRegisterNodes, "MaxNodesPerRegisterNodes"},
		{id.Server_ServerCapabilities_OperationLimits_MaxNodesPerTranslateBrowsePathsToNodeIDs, "MaxNodesPerTranslateBrowsePathsToNodeIds"},
		{id.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall, "MaxMonitoredItemsPerCall"},
	} {
		property(limits, r.id, r.name, id.UInt32, uint32(l.Operations))
	}
	property(limits, id.Server_ServerCapabilities_OperationLimits_MaxNodesPerMethodCall, "MaxNodesPerMethodCall", id.UInt32, uint32(maxCalls))
}

// addStatus makes ServerStatus and its components (Part 5, 12.10).
func (s *space) addStatus(cfg *Config, srv *node, now time.Time, since int64) {
	build := &ua.BuildInfo{
		ProductURI: productURI, ManufacturerName: "opcycle", ProductName: "opcycle",
		SoftwareVersion: cfg.Version, BuildNumber: cfg.Version, BuildDate: now,
	}
	status := s.variable(srv, id.HasComponent, ua.NewNumericNodeID(0, id.Server_ServerStatus), 0, "ServerStatus", id.ServerStatusDataType, nil, since)
	retype(status, s.std(id.ServerStatusType))
	clock(status, func(t time.Time) any {
		return ua.NewExtensionObject(&ua.ServerStatusDataType{
			StartTime: now, CurrentTime: t, State: ua.ServerStateRunning, BuildInfo: build, ShutdownReason: ua.NewLocalizedText(""),
		})
	})
	component := func(parent *node, nodeID uint32, name string, dataType uint32, v any) *node {
		return s.variable(parent, id.HasComponent, ua.NewNumericNodeID(0, nodeID), 0, name, dataType, v, since)
	}
	component(status, id.Server_ServerStatus_StartTime, "StartTime", id.UtcTime, now)
	current := component(status, id.Server_ServerStatus_CurrentTime, "CurrentTime", id.UtcTime, nil)
	clock(current, func(t time.Time) any { return t })
	component(status, id.Server_ServerStatus_State, "State", id.ServerState, int32(ua.ServerStateRunning))
	component(status, id.Server_ServerStatus_SecondsTillShutdown, "SecondsTillShutdown", id.UInt32, uint32(0))
	component(status, id.Server_ServerStatus_ShutdownReason, "ShutdownReason", id.LocalizedText, ua.NewLocalizedText(""))
	info := component(status, id.Server_ServerStatus_BuildInfo, "BuildInfo", id.BuildInfo, ua.NewExtensionObject(build))
	retype(info, s.std(id.BuildInfoType))
	component(info, id.Server_ServerStatus_BuildInfo_ProductURI, "ProductUri", id.String, build.ProductURI)
	component(info, id.Server_ServerStatus_BuildInfo_ManufacturerName, "ManufacturerName", id.String, build.ManufacturerName)
	component(info, id.Server_ServerStatus_BuildInfo_ProductName, "ProductName", id.String, build.ProductName)
	component(info, id.Server_ServerStatus_BuildInfo_SoftwareVersion, "SoftwareVersion", id.String, build.SoftwareVersion)
	component(info, id.Server_ServerStatus_BuildInfo_BuildNumber, "BuildNumber", id.String, build.BuildNumber)
	component(info, id.Server_ServerStatus_BuildInfo_BuildDate, "BuildDate", id.UtcTime, build.BuildDate)
}

// clock makes a variable one that changes with the wall clock.
func clock(n *node, at func(time.Time) any) {
	n.kind, n.sampling = sourceClock, clockSampling
	n.value = func() (any, int64, ua.StatusCode) {
		t := time.Now().UTC()
		return at(t), t.UnixNano()/100 + unixEpoch, ua.StatusOK
	}
}

// retype replaces the type definition.
func retype(n *node, definition *node) {
	for i, r := range n.references {
		if r.forward && r.kind.id.IntID() == id.HasTypeDefinition {
			n.references[i].target = definition
		}
	}
}
