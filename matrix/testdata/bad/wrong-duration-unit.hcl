experiment { cooldown = 30 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
