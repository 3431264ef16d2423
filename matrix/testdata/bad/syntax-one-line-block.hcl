axis "engine" {
  level "inno" { label = "a" description = "b" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
