axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = try(floorr(level), 100) + level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
