axis "engine" {
  level "inno" {
    my_cnf = { innodb_io_capacity = 100 }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
