axis "a" {
  level "x" { params = { rows = 1 } }
}
defaults { server = server.inno }
phase "load" {
  params = { rows = 2 }
  workload "bench" {
    step = "load"
    rows = param.rows
  }
}
