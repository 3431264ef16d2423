axis "size" {
  levels = [1, null]
  my_cnf = { innodb_io_capacity = level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
