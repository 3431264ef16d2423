defaults {
  server = server.inno
  my_cnf = { skip_innodb_doublewrite = "maybe" }
}
phase "load" {
  workload "bench" { step = "load" }
}
