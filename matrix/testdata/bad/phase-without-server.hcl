phase "load" {
  workload "bench" { step = "load" }
}
