phase "run" {
  workload "exec" { command = ["./bench.sh"] }
}
