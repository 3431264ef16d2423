defaults { server = server.inno }
phase "load" {
  workload "sql" { file = "load.sql" }
}
