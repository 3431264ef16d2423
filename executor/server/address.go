package server

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// An Address is where a server answers.
type Address struct {
	Flavour string
	Socket  string // path of the unix socket
	Port    int    // on 127.0.0.1; 0: none
	User    string // of the database; it has no password
}

// DSN returns the data source name for the driver of the flavour
// (go-sql-driver/mysql, pgx), by the unix socket; database may be "". Connecting
// and writing are bounded in time; reading is not, since a statement may last for
// hours: bound it with a context.
func (a Address) DSN(database string) string {
	if a.Flavour != "postgres" {
		return mysqlConfig(a, database).FormatDSN()
	}
	if database == "" {
		database = "postgres"
	}
	q := url.Values{
		"host":            {filepath.Dir(a.Socket)},
		"port":            {strings.TrimPrefix(filepath.Ext(a.Socket), ".")},
		"user":            {a.User},
		"connect_timeout": {fmt.Sprint(int(dialTimeout.Seconds()))},
	}
	return "postgres:///" + url.PathEscape(database) + "?" + q.Encode()
}
