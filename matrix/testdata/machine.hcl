server "inno" { mysqld = "/opt/mariadb/mysqld" }
server "myrocks" {
  mysqld = "/opt/mariadb/mysqld"
  my_cnf = { plugin_load_add = "ha_rocksdb" }
}
server "mysql97" { mysqld = "/opt/mysql97/mysqld" }
server "pg15" { bindir = "/opt/postgresql/15/bin" }
server "missing" { mysqld = "/opt/absent/mysqld" }
storage "ssd" { dir = "/mnt/ssd" }
storage "hdd" { dir = "/mnt/hdd" }
