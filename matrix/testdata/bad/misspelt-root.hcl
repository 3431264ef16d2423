variable "rows" { default = 1000 }
axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = vra.rows + level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
