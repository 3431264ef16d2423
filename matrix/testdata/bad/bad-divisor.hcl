table "t" {
  phase = "load"
  column "ips" { divisor = 10 }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
