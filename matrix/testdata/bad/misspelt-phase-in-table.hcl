table "load" {
  phase   = "laod"
  columns = ["ips.av"]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
