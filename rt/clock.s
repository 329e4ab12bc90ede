// This file is empty on purpose: with an assembly file in the package the compiler
// accepts functions without a body, which clock.go and handoff_linux.go link to the
// runtime's own.
