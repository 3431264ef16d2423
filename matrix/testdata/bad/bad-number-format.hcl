table "load" {
  phase = "load"
  column "ips" {
    of     = "ips.av"
    format = "%q"
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
