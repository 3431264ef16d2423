variable "rows" { default = 1000 }
axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = try(var.rwos, 100) + level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
