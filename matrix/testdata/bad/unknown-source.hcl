table "load" {
  phase   = "load"
  columns = ["ips.av"]
  source  = "published"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
