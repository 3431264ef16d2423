table "load" { phase = "load" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
