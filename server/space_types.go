package server

import (
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// typeRow is a type node below its supertype; 0: the root of its tree.
type typeRow struct {
	id, super uint32
	class     ua.NodeClass
	name      string
	abstract  bool
	inverse   string // of a ReferenceType; empty with symmetric
}

// typeRows are the types of namespace 0 that our nodes use, with their supertypes (Part 5,
// 5 to 7 and 12). Supertypes stand before their subtypes.
func typeRows() []typeRow {
	const (
		object    = ua.NodeClassObjectType
		variable  = ua.NodeClassVariableType
		reference = ua.NodeClassReferenceType
		data      = ua.NodeClassDataType
	)
	return []typeRow{
		{id.References, 0, reference, "References", true, ""},
		{id.HierarchicalReferences, id.References, reference, "HierarchicalReferences", true, "InverseHierarchicalReferences"},
		{id.NonHierarchicalReferences, id.References, reference, "NonHierarchicalReferences", true, ""},
		{id.HasChild, id.HierarchicalReferences, reference, "HasChild", true, "ChildOf"},
		{id.Organizes, id.HierarchicalReferences, reference, "Organizes", false, "OrganizedBy"},
		{id.Aggregates, id.HasChild, reference, "Aggregates", true, "AggregatedBy"},
		{id.HasSubtype, id.HasChild, reference, "HasSubtype", false, "SubtypeOf"},
		{id.HasProperty, id.Aggregates, reference, "HasProperty", false, "PropertyOf"},
		{id.HasComponent, id.Aggregates, reference, "HasComponent", false, "ComponentOf"},
		{id.HasTypeDefinition, id.NonHierarchicalReferences, reference, "HasTypeDefinition", false, "TypeDefinitionOf"},

		{id.BaseObjectType, 0, object, "BaseObjectType", false, ""},
		{id.FolderType, id.BaseObjectType, object, "FolderType", false, ""},
		{id.ServerType, id.BaseObjectType, object, "ServerType", false, ""},
		{id.ServerCapabilitiesType, id.BaseObjectType, object, "ServerCapabilitiesType", false, ""},
		{id.OperationLimitsType, id.FolderType, object, "OperationLimitsType", false, ""},

		{id.BaseVariableType, 0, variable, "BaseVariableType", true, ""},
		{id.BaseDataVariableType, id.BaseVariableType, variable, "BaseDataVariableType", false, ""},
		{id.PropertyType, id.BaseVariableType, variable, "PropertyType", false, ""},
		{id.ServerStatusType, id.BaseDataVariableType, variable, "ServerStatusType", false, ""},
		{id.BuildInfoType, id.BaseDataVariableType, variable, "BuildInfoType", false, ""},

		{id.BaseDataType, 0, data, "BaseDataType", true, ""},
		{id.Boolean, id.BaseDataType, data, "Boolean", false, ""},
		{id.String, id.BaseDataType, data, "String", false, ""},
		{id.DateTime, id.BaseDataType, data, "DateTime", false, ""},
		{id.LocalizedText, id.BaseDataType, data, "LocalizedText", false, ""},
		{id.Number, id.BaseDataType, data, "Number", true, ""},
		{id.Integer, id.Number, data, "Integer", true, ""},
		{id.UInteger, id.Number, data, "UInteger", true, ""},
		{id.Double, id.Number, data, "Double", false, ""},
		{id.Int32, id.Integer, data, "Int32", false, ""},
		{id.Int64, id.Integer, data, "Int64", false, ""},
		{id.Byte, id.UInteger, data, "Byte", false, ""},
		{id.UInt16, id.UInteger, data, "UInt16", false, ""},
		{id.UInt32, id.UInteger, data, "UInt32", false, ""},
		{id.Duration, id.Double, data, "Duration", false, ""},
		{id.UtcTime, id.DateTime, data, "UtcTime", false, ""},
		{id.LocaleID, id.String, data, "LocaleId", false, ""},
		{id.Structure, id.BaseDataType, data, "Structure", true, ""},
		{id.Argument, id.Structure, data, "Argument", false, ""},
		{id.ServerStatusDataType, id.Structure, data, "ServerStatusDataType", false, ""},
		{id.BuildInfo, id.Structure, data, "BuildInfo", false, ""},
		{id.Enumeration, id.BaseDataType, data, "Enumeration", true, ""},
		{id.ServerState, id.Enumeration, data, "ServerState", false, ""},
	}
}

// addTypes makes the folders of Part 5, 8.2 and the type trees.
func (s *space) addTypes() {
	for _, r := range typeRows() {
		n := &node{
			id: ua.NewNumericNodeID(0, r.id), class: r.class, browse: &ua.QualifiedName{Name: r.name},
			abstract: r.abstract, inverse: r.inverse, symmetric: r.class == ua.NodeClassReferenceType && r.inverse == "",
			rank: -2, dataType: ua.NewNumericNodeID(0, id.BaseDataType),
		}
		s.add(n, nil, 0)
	}
	for _, r := range typeRows() {
		if r.super != 0 {
			s.connect(s.std(r.super), id.HasSubtype, s.std(r.id))
		}
	}
	folder := func(parent *node, nodeID uint32, name string) *node {
		return s.object(parent, id.Organizes, ua.NewNumericNodeID(0, nodeID), 0, name, id.FolderType)
	}
	root := folder(nil, id.RootFolder, "Root")
	folder(root, id.ObjectsFolder, "Objects")
	types := folder(root, id.TypesFolder, "Types")
	folder(root, id.ViewsFolder, "Views")
	s.connect(folder(types, id.ObjectTypesFolder, "ObjectTypes"), id.Organizes, s.std(id.BaseObjectType))
	s.connect(folder(types, id.VariableTypesFolder, "VariableTypes"), id.Organizes, s.std(id.BaseVariableType))
	s.connect(folder(types, id.DataTypesFolder, "DataTypes"), id.Organizes, s.std(id.BaseDataType))
	s.connect(folder(types, id.ReferenceTypesFolder, "ReferenceTypes"), id.Organizes, s.std(id.References))
}

// isSubtype tells whether t is super or below it.
func isSubtype(t, super *node) bool {
	for ; t != nil; t = supertype(t) {
		if t == super {
			return true
		}
	}
	return false
}

func supertype(t *node) *node {
	for _, r := range t.references {
		if !r.forward && r.kind.id.IntID() == id.HasSubtype {
			return r.target
		}
	}
	return nil
}
