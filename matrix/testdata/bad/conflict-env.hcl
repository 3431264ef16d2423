axis "cache" {
  level "small" { env = { MALLOC_CONF = "a" } }
  level "large" { env = { MALLOC_CONF = "b" } }
}
axis "memory" {
  level "low" { env = { MALLOC_CONF = "c" } }
  level "high" { my_cnf = { innodb_log_file_size = "1G" } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
