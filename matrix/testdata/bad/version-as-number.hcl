axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = at_least(build.version, 10.10) ? level : 100 }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
