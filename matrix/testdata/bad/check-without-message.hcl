defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" { step = "query" }
  check "rows" { condition = col["rows"] > 0 }
}
