defaults { server = server.inno }
phase "load" {
  when = false
  workload "bench" { step = "load" }
}
