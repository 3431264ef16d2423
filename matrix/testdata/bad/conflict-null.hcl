axis "cache" {
  level "small" { my_cnf = { innodb_buffer_pool_size = "1G" } }
  level "large" { my_cnf = { innodb_buffer_pool_size = "8G" } }
}
axis "memory" {
  level "low" { my_cnf = { innodb_buffer_pool_size = null } }
  level "high" { my_cnf = { innodb_log_file_size = "1G" } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
