// Package workloadtest tests workloads against real servers: Start runs a
// throw-away MariaDB server for one test, and Guard stands in for the guardian.
// It is used by tests alone.
package workloadtest
