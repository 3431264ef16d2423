defaults {
  server = server.inno
  my_cnf = {
    innodb_io_capacity = 100
    innodb-io-capacity = 200
  }
}
phase "load" {
  workload "bench" { step = "load" }
}
