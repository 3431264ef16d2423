defaults {
  server = server.inno
  my_cnf = { "max_connections = 7\ngeneral_log_file" = "/elsewhere" }
}
phase "load" {
  workload "bench" { step = "load" }
}
