axis "cache" {
  level "small" { storage = storage.ssd }
  level "large" { storage = storage.hdd }
}
axis "memory" {
  level "low" { storage = { redo = storage.ssd, data = storage.hdd } }
  level "high" { my_cnf = { innodb_log_file_size = "1G" } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
