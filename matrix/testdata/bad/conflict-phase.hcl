defaults { server = server.inno }
axis "cache" {
  level "small" { my_cnf = { innodb_buffer_pool_size = "1G" } }
  level "large" { my_cnf = { innodb_buffer_pool_size = "8G" } }
}
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  restart = true
  my_cnf  = { innodb_buffer_pool_size = "1G" }
  workload "bench" { step = "query" }
}
