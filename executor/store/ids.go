package store

// Ids of rows, each kind a type of its own so that they cannot be mixed up.
type (
	ExperimentID int64 // an experiment on one host
	RunnerID     int64
	EpochID      int64
	AttemptID    int64 // matrix.Attempt.ID is the same number
	PhaseID      int64
	IterationID  int64
	SetupID      int64
)
