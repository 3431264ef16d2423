locals { x = 1 }
locals { x = 2 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
