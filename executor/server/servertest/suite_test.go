package servertest_test

import (
	"testing"

	"dbmatrix/executor/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestMariaDB(t *testing.T) { servertest.Run(t, servertest.Need(t, "mariadb")) }

func TestMyRocks(t *testing.T) { servertest.Run(t, servertest.Need(t, "myrocks1011")) }

func TestMariaDB118(t *testing.T) { servertest.Run(t, servertest.Need(t, "mariadb118")) }

func TestMySQL97(t *testing.T) { servertest.Run(t, servertest.Need(t, "mysql97")) }

func TestPostgreSQL(t *testing.T) { servertest.Run(t, servertest.Need(t, "postgres")) }
