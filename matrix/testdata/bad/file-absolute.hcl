locals { query = file("/etc/hostname") }
axis "size" {
  levels = [1, 2]
  my_cnf = { init_connect = local.query, innodb_io_capacity = level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
