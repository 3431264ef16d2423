// Command dbmatrix runs experiment matrices on database servers: an HCL file
// says what varies and what is done to each combination; dbmatrix configures,
// starts, loads, measures and stops a real server for every cell, keeps the
// numbers in SQLite, and makes tables of them.
//
//	dbmatrix init first && dbmatrix run first && dbmatrix report first
//
// Each command has a file of its own; wiring.go lists the flavours, workloads,
// samplers and renderers that this program knows; exit.go has the exit codes.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
