experiment { title = 1 / 3 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
