defaults { server = server.inno }
axis "a" {
  levels = range(0, 1000)
  my_cnf = { max_connections = level }
}
axis "b" {
  levels = range(0, 1000)
  my_cnf = { table_open_cache = level }
}
axis "c" {
  levels = range(0, 1000)
  my_cnf = { innodb_io_capacity = level }
}
phase "load" {
  workload "bench" { step = "load" }
}
