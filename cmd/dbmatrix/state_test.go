package main

import (
	"testing"

	"dbmatrix/executor/server/servertest"
)

// TestPostgresScripts runs the scripts that start PostgreSQL.
func TestPostgresScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("real servers take a minute")
	}
	servertest.Need(t, "postgres")
	runScripts(t, "testdata/postgres")
}
