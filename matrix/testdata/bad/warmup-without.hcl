defaults { server = server.inno }
phase "load" {
  warmup = "10s"
  workload "sql" { statements = ["SELECT 1"] }
}
