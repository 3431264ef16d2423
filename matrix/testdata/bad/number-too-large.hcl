defaults {
  server = server.inno
  my_cnf = { innodb_io_capacity = 1e400 }
}
phase "load" {
  workload "bench" { step = "load" }
}
