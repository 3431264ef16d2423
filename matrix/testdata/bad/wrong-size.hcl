defaults { server = server.inno }
phase "load" {
  snapshot {
    budget = "200 GB"
  }
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" { step = "query" }
}
