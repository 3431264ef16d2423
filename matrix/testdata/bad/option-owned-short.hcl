defaults {
  server = server.inno
  my_cnf = { datadi = "/elsewhere" }
}
phase "load" {
  workload "bench" { step = "load" }
}
