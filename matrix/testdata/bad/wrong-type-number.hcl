experiment { replicates = "three" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
