defaults { server = server.inno }
axis "size" {
  level "small" { params = { rows = 1 } }
  level "large" { params = { rows = 2 } }
}
exclude { when = param.rows == 1 }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" {
    step = "query"
    rows = param.rows
  }
}
