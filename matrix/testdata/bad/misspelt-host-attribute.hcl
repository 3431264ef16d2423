axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = level * host.cpu }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
