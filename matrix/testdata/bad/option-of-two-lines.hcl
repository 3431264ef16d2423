defaults {
  server = server.inno
  my_cnf = { init_connect = "SET a = 1\nSET b = 2" }
}
phase "load" {
  workload "bench" { step = "load" }
}
