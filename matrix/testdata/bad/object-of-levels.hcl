axis "size" {
  levels = { small = 1, large = 2 }
  my_cnf = { innodb_io_capacity = level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
