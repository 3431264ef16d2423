defaults {
  server             = server.inno
  innodb_io_capacity = 200
}
phase "load" {
  workload "bench" { step = "load" }
}
