defaults {
  server = server.inno
  my_cnf = { innodb_io_capacity = 1000 / 3 }
}
phase "load" {
  workload "bench" { step = "load" }
}
