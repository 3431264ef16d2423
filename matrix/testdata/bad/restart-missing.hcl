defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  my_cnf = { innodb_io_capacity = 500 }
  workload "bench" { step = "query" }
}
