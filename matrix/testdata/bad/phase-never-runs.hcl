defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  when = var.queries
  workload "bench" { step = "query" }
}
variable "queries" { default = false }
