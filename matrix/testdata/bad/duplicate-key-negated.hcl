defaults {
  server = server.inno
  my_cnf = {
    log_bin      = true
    skip_log_bin = true
  }
}
phase "load" {
  workload "bench" { step = "load" }
}
