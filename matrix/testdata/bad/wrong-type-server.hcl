defaults { server = "inno" }
phase "load" {
  workload "bench" { step = "load" }
}
