// Package opcua is the OPC UA suite: what runs inside its measured processes.
//
// Method. The server process runs the cyclic task on one locked thread and publishes
// from it; the client process pumps Publish responses and Writes; two floor processes
// exchange as many bytes over a bare socket. What each instant means stands in
// metrics.md and in record. The processes write records into rings they share with the
// conductor and answer its orders on a socket; they do not judge, print or write files.
//
// What it cannot tell: time that the hypervisor takes is in "rest" of the thieves, and a
// message that coalesces with another in the socket has no exact kernel stamp.
package opcua
