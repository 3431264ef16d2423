axis "disk" {
  level "ssd" { storage = { redo = "ssd" } }
  level "hdd" { storage = storage.hdd }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
