axis "cache" {
  level "small" { server = server.inno }
  level "large" { server = server.mysql97 }
}
axis "memory" {
  level "low" { server = server.myrocks }
  level "high" { my_cnf = { innodb_log_file_size = "1G" } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
