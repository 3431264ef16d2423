defaults {
  server = server.inno
  env    = { MALLOC_CONF = ["a", "b"] }
}
phase "load" {
  workload "bench" { step = "load" }
}
