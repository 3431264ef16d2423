defaults { server = server.inno }
axis "engine" {
  level "inno" { params = { engine = "innodb" } }
  level "rocks" { params = { engine = "rocksdb" } }
}
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" {
    step   = "query"
    engine = param.engin
  }
}
