experiment { order = "random" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
