table "load" {
  phase   = "load"
  columns = ["ips.av"]
  sort    = ["-ips"]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
