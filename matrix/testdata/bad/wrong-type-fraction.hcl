experiment { replicates = 2.5 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
