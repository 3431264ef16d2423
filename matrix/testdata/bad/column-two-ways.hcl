table "load" {
  phase = "load"
  column "ips" {
    of    = "ips.av"
    value = col["ips.av"] / 2
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
