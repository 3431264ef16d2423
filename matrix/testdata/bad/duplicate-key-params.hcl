defaults { server = server.inno }
axis "size" {
  level "a" {
    params = { rows = 1, rows = 2 }
  }
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
