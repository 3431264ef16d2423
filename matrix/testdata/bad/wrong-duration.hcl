defaults { server = server.inno }
phase "load" {
  timeout = "20 minutes"
  workload "bench" { step = "load" }
}
