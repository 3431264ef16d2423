defaults {
  server = server.inno
  my_cnf = { innodb_flush_method = { a = 1 } }
}
phase "load" {
  workload "bench" { step = "load" }
}
