package servertest_test

import (
	"os"
	"testing"

	"dbmatrix/executor/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestServer runs the suite with one build of the MySQL family and one of
// PostgreSQL; TestConformance runs it with all.
func TestServer(t *testing.T) { servertest.Run(t, "mariadb", "postgres") }

func TestConformance(t *testing.T) {
	if os.Getenv("DBMATRIX_CONFORMANCE") != "1" {
		t.Skip("it takes minutes: make conformance")
	}
	servertest.Run(t, servertest.Brought()...)
}
