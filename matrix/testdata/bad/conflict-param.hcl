defaults { server = server.inno }
axis "cache" {
  level "small" { params = { rows = 1 } }
  level "large" { params = { rows = 2 } }
}
axis "memory" {
  level "low" { params = { rows = 3 } }
  level "high" { my_cnf = { innodb_log_file_size = "1G" } }
}
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" {
    step = "query"
    rows = param.rows
  }
}
