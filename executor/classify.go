package executor

import (
	"path"
	"strings"
)

// classifyFile tells the role of a file by its path below a data directory, ""
// being that of the directory. The names are those of the servers' own defaults:
// redo logs of InnoDB, Aria and RocksDB, write-ahead logs of PostgreSQL, binary
// logs under the name that dbmatrix's option file gives them, temporary
// tablespaces.
func classifyFile(rel string) string {
	dir, base := path.Split(rel)
	top, _, _ := strings.Cut(rel, "/")
	switch {
	case strings.HasPrefix(base, "ib_logfile"), top == "#innodb_redo",
		strings.HasPrefix(base, "aria_log."),
		dir == "#rocksdb/" && strings.HasSuffix(base, ".log"),
		top == "pg_wal", top == "pg_xlog":
		return "redo"
	case dir == "" && (strings.HasPrefix(base, "binlog.") || strings.HasPrefix(base, "mysql-bin.") || strings.HasPrefix(base, "mariadb-bin.")):
		return "binlog"
	case base == "ibtmp1", top == "#innodb_temp", strings.HasPrefix(rel, "base/pgsql_tmp/"):
		return "tmp"
	}
	return ""
}
