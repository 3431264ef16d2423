experiment { title = "One" }
experiment { replicates = 3 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
