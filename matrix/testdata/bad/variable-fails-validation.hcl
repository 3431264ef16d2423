variable "rows" {
  default = 10
  validation {
    condition     = var.rows >= 1000
    error_message = "Fewer than 1000 rows fit in the cache."
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
