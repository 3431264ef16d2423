defaults { server = server.inno }
axis "size" {
  level "small" { params = { rows = param.pages * 10, pages = param.rows / 10 } }
}
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" {
    step = "query"
    rows = param.rows
  }
}
