defaults {
  server = server.inno
  setup  = ["sync"]
}
phase "load" {
  workload "bench" { step = "load" }
}
