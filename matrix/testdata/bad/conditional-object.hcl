axis "engine" {
  level "inno" { params = { engine = "innodb" } }
  level "rocks" { params = { engine = "rocksdb" } }
}
phase "query" {
  restart = true
  my_cnf  = param.engine == "innodb" ? { innodb_io_capacity = 100, innodb_flush_neighbors = true } : {}
  workload "bench" { step = "query" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
