axis "engine" {
  level "a" {}
