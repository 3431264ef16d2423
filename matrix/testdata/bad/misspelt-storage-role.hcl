axis "disk" {
  level "ssd" { storage = { data = storage.ssd, binlogs = storage.hdd } }
  level "hdd" { storage = storage.hdd }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
