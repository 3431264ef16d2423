axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = axis.size == 1 ? 100 : 200 }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
