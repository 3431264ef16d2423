package store

import (
	"context"
	"database/sql"
	"fmt"

	"dbmatrix/matrix"
)

// A PhaseStart is what is known when a phase begins.
type PhaseStart struct {
	Attempt     AttemptID
	Ordinal     int // among the attempt's phases, from 1
	Phase       *matrix.Phase
	Fingerprint matrix.Fingerprint

	// Inputs returns what the fingerprint is a hash of. It is called only
	// where the record does not have them yet.
	Inputs func() []matrix.Input
}

// BeginPhase records that a phase begins, and the inputs of its fingerprint.
func (s *Store) BeginPhase(ctx context.Context, p PhaseStart) (PhaseID, error) {
	var id PhaseID
	err := s.begin(ctx, "the start of phase "+p.Phase.Block, func(t *tx) error {
		var err error
		id, err = s.addPhase(t, p)
		return err
	})
	return id, err
}

// TakePhase records that an attempt goes on from the state after a phase that
// another attempt measured, so that the phase is not executed again. It is
// ErrNotFound where that attempt has no complete phase of the fingerprint.
func (s *Store) TakePhase(ctx context.Context, p PhaseStart, from AttemptID) (PhaseID, error) {
	var id PhaseID
	err := s.begin(ctx, "that phase "+p.Phase.Block+" is taken over", func(t *tx) error {
		var source int64
		err := t.one(`SELECT coalesce(p.taken_from, p.id) FROM phase p JOIN fingerprint f ON f.id = p.fingerprint_id
			WHERE p.attempt_id = ? AND f.hash = ? AND p.status IN ('ok', 'sla_missed')`, []any{from, p.Fingerprint}, &source)
		if err != nil {
			return fmt.Errorf("a complete phase of attempt %d with its fingerprint: %w", from, orNotFound(err))
		}
		if id, err = s.addPhase(t, p); err != nil {
			return err
		}
		return t.exec(`UPDATE phase SET taken_from = s.id, status = s.status, message = s.message, ended_ns = phase.began_ns,
				finished = s.finished, bytes = s.bytes
			FROM phase s WHERE phase.id = ? AND s.id = ?`, id, source)
	})
	return id, err
}

func (s *Store) addPhase(t *tx, p PhaseStart) (PhaseID, error) {
	fp, err := internMaybe(t, p.Fingerprint)
	if err != nil {
		return 0, err
	}
	if fp.Valid {
		if err := addInputs(t, fp.Int64, p.Inputs); err != nil {
			return 0, err
		}
	}
	id, err := t.insert(`INSERT INTO phase (attempt_id, ordinal, block, name, workload, workload_version,
			fingerprint_id, planned, status, began_ns)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Attempt, p.Ordinal, p.Phase.Block, p.Phase.Name, p.Phase.Workload.Type, p.Phase.Workload.Version,
		fp, p.Phase.Recorded(), Running, s.now().UnixNano())
	return PhaseID(id), err
}

// addInputs stores the inputs of a fingerprint unless they are there: they are
// the same by definition.
func addInputs(t *tx, fingerprint int64, inputs func() []matrix.Input) error {
	var there bool
	if err := t.one("SELECT EXISTS (SELECT 1 FROM input WHERE fingerprint_id = ?)", []any{fingerprint}, &there); err != nil || there {
		return err
	}
	for _, in := range inputs() {
		setting, err := internSetting(t, in.Name, in.Value)
		if err != nil {
			return err
		}
		if err := t.exec("INSERT INTO input (fingerprint_id, setting_id) VALUES (?, ?) ON CONFLICT DO NOTHING", fingerprint, setting); err != nil {
			return err
		}
	}
	return nil
}

// SetStage records what a running phase is at, such as "starting", "measuring"
// or "settling".
func (s *Store) SetStage(ctx context.Context, id PhaseID, stage string) error {
	return s.record(ctx, "what the phase is at", func(t *tx) error {
		return t.change("a running phase", "UPDATE phase SET stage = ? WHERE id = ? AND status = 'running'", stage, id)
	})
}

// A PhaseEnd is how a phase ended.
type PhaseEnd struct {
	Status        matrix.Status
	Message       string
	Seconds       float64 // wall time, start, warm-up and settle included
	SettleSeconds float64
	Bytes         int64 // allocated size of the data; 0 where there is none

	// Whole is what was measured of the phase as a whole, such as sizes at
	// its end. It is recorded as iteration 0; its Number and Status are not
	// looked at.
	Whole Iteration
}

// FinishPhase records the end of a phase, in one transaction with what was
// measured of it as a whole.
func (s *Store) FinishPhase(ctx context.Context, id PhaseID, end PhaseEnd) error {
	if !finished(end.Status) {
		return fmt.Errorf("recording the end of the phase: %q is no status that it can end with", end.Status)
	}
	return s.record(ctx, "the end of the phase", func(t *tx) error {
		if !end.Whole.empty() {
			whole := end.Whole
			whole.Number, whole.Status = 0, end.Status
			if _, err := addIteration(t, id, whole); err != nil {
				return err
			}
		}
		return t.change("a running phase", `UPDATE phase SET status = ?, message = ?, stage = '', ended_ns = ?,
				seconds = ?, settle_seconds = ?, bytes = ?
			WHERE id = ? AND status = 'running'`,
			end.Status, end.Message, s.now().UnixNano(), end.Seconds, end.SettleSeconds, end.Bytes, id)
	})
}

// An Option is one requested server option and what became of it.
type Option struct {
	Name    string
	Asked   string // as written in the option file
	InForce string // as the server tells it
	Unknown bool   // nothing tells what is in force
	Verdict string // verified, adjusted, contradicted or unverifiable
	Granule bool   // adjusted only by rounding to the server's own unit
	Varied  bool   // an axis, a matrix or a phase sets it
	Origin  string // the places that set it, one a line
	Detail  string
}

// AddOptions records what became of the options that a server was started with,
// with the phase that it was started for.
func (s *Store) AddOptions(ctx context.Context, id PhaseID, options []Option) error {
	return s.record(ctx, "options in force", func(t *tx) error {
		for _, o := range options {
			inForce := sql.NullString{String: o.InForce, Valid: !o.Unknown}
			if err := t.exec(`INSERT INTO option (phase_id, name, asked, in_force, verdict, granule, varied, origin, detail)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET asked = excluded.asked, in_force = excluded.in_force, verdict = excluded.verdict,
					granule = excluded.granule, varied = excluded.varied, origin = excluded.origin, detail = excluded.detail`,
				id, o.Name, o.Asked, inForce, o.Verdict, o.Granule, o.Varied, o.Origin, o.Detail); err != nil {
				return fmt.Errorf("option %s: %w", o.Name, err)
			}
		}
		return nil
	})
}

// AddVariables records all variables of the server that a phase was started with.
func (s *Store) AddVariables(ctx context.Context, id PhaseID, variables []Fact) error {
	return s.record(ctx, "server variables", func(t *tx) error {
		for _, v := range variables {
			setting, err := internSetting(t, v.Name, v.Value)
			if err != nil {
				return err
			}
			if err := t.exec("INSERT INTO variable (phase_id, setting_id) VALUES (?, ?) ON CONFLICT DO NOTHING", id, setting); err != nil {
				return fmt.Errorf("variable %s: %w", v.Name, err)
			}
		}
		return nil
	})
}
