defaults {
  server = server.inno
  my_cnf = { datadir = "/data" }
}
phase "load" {
  workload "bench" { step = "load" }
}
