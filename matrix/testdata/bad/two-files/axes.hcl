axis "engine" { levels = ["a", "b"] }
