defaults { server = server.inno }
phase "load" {
  workload "bench" { rows = 1000 }
}
