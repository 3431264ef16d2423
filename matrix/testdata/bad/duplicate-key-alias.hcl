defaults {
  server = server.inno
  my_cnf = {
    table_cache      = 100
    table_open_cache = 200
  }
}
phase "load" {
  workload "bench" { step = "load" }
}
