chart "load" {
  phase = "load"
  y     = "ips.av"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
