axis "size" {
  level "small" { my_cnf = ["innodb_io_capacity=100"] }
  level "large" { my_cnf = { innodb_io_capacity = 200 } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
