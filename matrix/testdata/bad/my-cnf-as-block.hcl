defaults {
  server = server.inno
  my_cnf {
    innodb_io_capacity = 100
  }
}
phase "load" {
  workload "bench" { step = "load" }
}
