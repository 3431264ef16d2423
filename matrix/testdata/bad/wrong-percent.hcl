defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
  settle { dirty_pages_pct = 120 }
}
