package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

func TestIdentify(t *testing.T) {
	tests := []struct {
		words string // what programs of these versions print
		want  matrix.Build
	}{
		{"mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n",
			matrix.Build{Flavour: "mariadb", Version: "10.11.19", Comment: "MariaDB Debian 12"}},
		{"/usr/sbin/mysqld  Ver 10.5.23-MariaDB-0+deb11u1 for debian-linux-gnu on x86_64 (Debian 11)\n",
			matrix.Build{Flavour: "mariadb", Version: "10.5.23", Comment: "MariaDB Debian 11"}},
		{"mysqld  Ver 5.5.5-10.4.32-MariaDB for Linux on x86_64 (Source distribution)\n",
			matrix.Build{Flavour: "mariadb", Version: "10.4.32", Comment: "MariaDB Source distribution"}},
		{"mysqld  Ver 5.6.51 for linux-glibc2.12 on x86_64 (MySQL Community Server (GPL))\n",
			matrix.Build{Flavour: "mysql", Version: "5.6.51", Comment: "MySQL Community Server (GPL)"}},
		{"mysqld  Ver 5.7.44-48-log for Linux on x86_64 (Percona Server (GPL), Release 48, Revision 497f936a373)\n",
			matrix.Build{Flavour: "mysql", Version: "5.7.44", Comment: "Percona Server (GPL), Release 48, Revision 497f936a373"}},
		{"/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)\n",
			matrix.Build{Flavour: "mysql", Version: "8.0.36", Comment: "MySQL Community Server - GPL"}},
		{"/usr/sbin/mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)\n",
			matrix.Build{Flavour: "mysql", Version: "8.4.3", Comment: "MySQL Community Server - GPL"}},
		{"/opt/ps/bin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)\n",
			matrix.Build{Flavour: "mysql", Version: "8.0.36", Comment: "Percona Server (GPL), Release 28, Revision 47601f19"}},
		{"/x/mariadbd  Ver 11.8.9-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64 (-- Please help get to 10k stars at https://github.com/MariaDB/Server)\n",
			matrix.Build{Flavour: "mariadb", Version: "11.8.9", Comment: "MariaDB"}},
		{"postgres (PostgreSQL) 17.12 (Debian 17.12-0+deb13u1)\n",
			matrix.Build{Flavour: "postgres", Version: "17.12.0", Comment: "PostgreSQL Debian 17.12-0+deb13u1"}},
		{"mysqld  Ver 5.6.35-rocksdb for Linux on x86_64 (Source distribution)\n",
			matrix.Build{Flavour: "mysql", Version: "5.6.35", Comment: "MySQL rocksdb Source distribution"}},
		{"/x/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))\n",
			matrix.Build{Flavour: "mysql", Version: "9.7.4", Comment: "MySQL 2 Debian"}},
		{"mysqld  Ver 8.0.36-debug for Linux on x86_64 (MySQL Community Server - GPL - Debug)\n",
			matrix.Build{Flavour: "mysql", Version: "8.0.36", Comment: "MySQL Community Server - GPL - Debug", Absent: "it is a debug build (debug), whose numbers mean nothing"}},
		{"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n",
			matrix.Build{Flavour: "postgres", Version: "15.18.0", Comment: "PostgreSQL Debian 15.18-0+deb12u1"}},
		{"postgres (PostgreSQL) 9.6.24\n",
			matrix.Build{Flavour: "postgres", Version: "9.6.24", Comment: "PostgreSQL"}},
		{"postgres (PostgreSQL) 18beta1\n",
			matrix.Build{Flavour: "postgres", Version: "18.0.0", Comment: "PostgreSQL beta1"}},
		{"sysbench 1.0.20\n", matrix.Build{}},
		{"", matrix.Build{}},
	}
	for _, tt := range tests {
		var got matrix.Build
		for _, f := range Flavours() {
			if b, ok := f.Identify(tt.words); ok {
				got = b
				break
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.words, diff)
		}
	}
}

func TestCapabilities(t *testing.T) {
	table := capabilityTable{{"a", "5.7.6", "", ""}, {"b", "5.6", "8.0.3", ""}, {"c", "1", "2", ""}, {"c", "3", "4", ""}}
	tests := []struct {
		feature feature
		version string
		want    bool
	}{
		{"a", "5.7.5", false}, {"a", "5.7.6", true}, {"a", "10.0.0", true},
		{"b", "5.5.60", false}, {"b", "8.0.2", true}, {"b", "8.0.3", false},
		{"c", "1.5.0", true}, {"c", "2.5.0", false}, {"c", "3.0.1", true},
		{"none", "1.0.0", false},
	}
	for _, tt := range tests {
		if got := table.has(tt.feature, tt.version); got != tt.want {
			t.Errorf("%s in %s: got %v", tt.feature, tt.version, got)
		}
	}
}

// Each version that dbmatrix speaks of must have exactly one way to make a data
// directory.
func TestOneWayToInitialise(t *testing.T) {
	for _, v := range []string{"5.6.51", "5.7.44", "8.0.11", "8.0.36", "8.4.0", "9.7.4"} {
		m := mysql().(*mysqlFlavour)
		ways := 0
		for _, f := range []feature{initByScript, initByServer, initByBootstrap} {
			if m.can.has(f, v) {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("MySQL %s has %d ways", v, ways)
		}
	}
}
