table "t" {
  phase     = "load"
  iteration = 0
  columns   = ["ips"]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
