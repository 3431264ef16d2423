import "published" { file = "published.csv" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
