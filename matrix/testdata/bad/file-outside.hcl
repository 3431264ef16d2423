axis "size" {
  levels = [1, 2]
  my_cnf = { init_connect = file("../machine.hcl"), innodb_io_capacity = level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
