axis "size" { levels = ["a,b", "c"] }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
