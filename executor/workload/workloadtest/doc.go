// Package workloadtest tests workloads against real servers: Start and its
// relatives run a throw-away server of a flavour for one test, and Guard stands
// in for the guardian.
//
// A Suite is what each workload must pass that makes data and then works on it,
// on each engine that it runs on:
//
//	prepare, and prepare again ──► the same data
//	interrupt, at random moments ──► it ends soon, nothing runs on in the server
//	connections, or the server, lost ──► it ends soon, with an error
//
// It is used by tests alone.
package workloadtest
