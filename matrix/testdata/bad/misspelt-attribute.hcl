experiment { titel = "Insert benchmark" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
