chart "c" {
  kind  = "line"
  phase = "load"
  x     = "time"
  y     = "ips"
}
chart "c" {
  kind  = "line"
  phase = "load"
  x     = "time"
  y     = "qps"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
