table "load" {
  phase = "load"
  column "ips" {
    of      = "ips.av"
    heading = ["a", "b", "c"]
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
