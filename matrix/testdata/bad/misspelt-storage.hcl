axis "disk" {
  level "ssd" { storage = storage.sdd }
  level "hdd" { storage = storage.hdd }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
