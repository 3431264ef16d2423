axis "hint" {
  level "a" { description = "one" }
  level "b" { description = "two" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
