package store

import (
	"database/sql"
	"errors"

	"dbmatrix/matrix"
)

// Texts that many rows share are kept once. The functions here return the id of
// a text, which they add where it is new.

func internFingerprint(t *tx, fp matrix.Fingerprint) (int64, error) {
	return intern(t, "SELECT id FROM fingerprint WHERE hash = ?",
		"INSERT INTO fingerprint (hash) VALUES (?)", string(fp))
}

// internMaybe is internFingerprint for a phase whose build is not on this host,
// which has none.
func internMaybe(t *tx, fp matrix.Fingerprint) (sql.NullInt64, error) {
	if fp == "" {
		return sql.NullInt64{}, nil
	}
	id, err := internFingerprint(t, fp)
	return sql.NullInt64{Int64: id, Valid: true}, err
}

func internSetting(t *tx, name, value string) (int64, error) {
	return intern(t, "SELECT id FROM setting WHERE name = ? AND value = ?",
		"INSERT INTO setting (name, value) VALUES (?, ?)", name, value)
}

func internMetric(t *tx, name, unit string) (int64, error) {
	return intern(t, "SELECT id FROM metric_name WHERE name = ? AND unit = ?",
		"INSERT INTO metric_name (name, unit) VALUES (?, ?)", name, unit)
}

func intern(t *tx, find, add string, texts ...any) (int64, error) {
	var id int64
	err := t.one(find, texts, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return t.insert(add, texts...)
	}
	return id, err
}
