defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" { step = "query" }
  check "rows" {
    condition     = col["rows"] > 0
    error_message = "no rows"
  }
  check "rows" {
    condition     = col["rows"] > 1
    error_message = "few rows"
  }
}
