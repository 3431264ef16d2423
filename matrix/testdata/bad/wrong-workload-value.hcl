defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "lod" }
}
