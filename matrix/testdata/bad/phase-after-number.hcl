phase "" {
  workload "bench" { step = "query" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
