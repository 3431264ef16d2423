table "t" {
  phase = "load"
  column "ips" { of = "ips.av" }
  column "ips" { of = "ips.99" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
