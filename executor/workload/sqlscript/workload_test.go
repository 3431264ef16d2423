package sqlscript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/workloadtest"
)

type block = workloadtest.Block

func TestScript(t *testing.T) {
	target := workloadtest.Start(t)
	result := workloadtest.Do(t, Type(), target, block{"statements": []string{
		"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2), (3)",
		"SELECT COUNT(*), 'x' FROM d.t", "DO SLEEP(0.2)", "DROP TABLE IF EXISTS d.absent",
	}, "expect": map[string]string{"4": "3"}})
	for name, want := range map[string]float64{"queries": 6, "rows_affected": 4, "rows_read": 1} {
		if got := workloadtest.Metric(t, result, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	slept, all := workloadtest.Metric(t, result, "secs_5"), workloadtest.Metric(t, result, "secs")
	if slept < 0.2 || slept > all {
		t.Errorf("sleeping for 0.2 s took %v s of %v s", slept, all)
	}
	if first := workloadtest.Metric(t, result, "secs_1"); first > all-slept {
		t.Errorf("the first statement took %v s of %v s, with %v s of the fifth", first, all, slept)
	}
}

func TestConnections(t *testing.T) {
	target := workloadtest.Start(t)
	file := "-- a file\nDO SLEEP(0.3);\nSELECT 1; SELECT 2 UNION SELECT 3;\n"
	if err := os.WriteFile(filepath.Join(target.Source, "a.sql"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	result := workloadtest.Do(t, Type(), target, block{"file": "a.sql", "database": "mysql", "connections": 4})
	if got := workloadtest.Metric(t, result, "queries"); got != 12 {
		t.Errorf("%v queries, want 12", got)
	}
	if got := workloadtest.Metric(t, result, "rows_read"); got != 12 {
		t.Errorf("%v rows, want 12", got)
	}
	if got := workloadtest.Metric(t, result, "secs"); got < 0.3 || got > 0.9 {
		t.Errorf("four connections that sleep for 0.3 s at once took %v s", got)
	}
}

func TestFaults(t *testing.T) {
	target := workloadtest.Start(t)
	workloadtest.Do(t, Type(), target, block{"statements": []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n TINYINT)", "INSERT INTO d.t VALUES (1, 1)"}})
	for _, test := range []struct {
		block block
		want  string // "" is no error
	}{
		{block{"statements": []string{"SELECT 1", "DROP TABLE d.absent"}}, "statement 2, DROP TABLE d.absent: Error 1051"},
		{block{"statements": []string{"DROP TABLE d.absent"}, "allow_errors": []int{1051}}, ""},
		{block{"statements": []string{"INSERT IGNORE INTO d.t VALUES (1, 1)"}}, "the server warns: Warning 1062"},
		{block{"statements": []string{"INSERT IGNORE INTO d.t VALUES (1, 1)", "SELECT 1"}}, "statement 1, INSERT IGNORE"},
		{block{"statements": []string{"INSERT IGNORE INTO d.t VALUES (1, 1)"}, "allow_errors": []int{1062}}, ""},
		{block{"statements": []string{"INSERT INTO d.t VALUES (2, 1000)"}}, "Out of range"}, // strict mode
		{block{"statements": []string{"SELECT n FROM d.t"}, "expect": map[string]string{"1": "2"}}, "the result is 1, expected was 2"},
		{block{"statements": []string{"SELECT n FROM d.t WHERE id = 9"}, "expect": map[string]string{"1": "2"}}, "there is no result, expected was 2"},
		{block{"statements": []string{"/* a comment */ SELECT n FROM d.t"}, "expect": map[string]string{"1": "2"}}, "the result is 1, expected was 2"},
		{block{"statements": []string{"DO 1"}, "expect": map[string]string{"1": "2"}}, "there is no result, expected was 2"},
		{block{"statements": []string{"SELECT 1"}, "database": "absent"}, "Unknown database 'absent'"},
		{block{"file": "absent.sql"}, "no such file"},
	} {
		_, err := workloadtest.Try(t.Context(), t, Type(), target, test.block)
		if (err == nil) != (test.want == "") || !strings.Contains(fmt.Sprint(err), test.want) && test.want != "" {
			t.Errorf("%v: the error is %v, want %q", test.block, err, test.want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	target := workloadtest.Start(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, context.Canceled)
	defer cancel()
	started := time.Now()
	_, err := workloadtest.Try(ctx, t, Type(), target, block{"statements": []string{"SELECT SLEEP(60)"}, "connections": 3})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want the interrupt", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if left := workloadtest.Processes(t, target); len(left) > 0 {
		t.Errorf("the server still has the connections %v", left)
	}
}

func TestWarmupRefused(t *testing.T) {
	w, err := Type().New(workloadtest.Args(t, Type(), block{"statements": []string{"SELECT 1"}}))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(t.Context(), workload.Target{Warmup: time.Second}, workload.NewRecorder("", workload.Hooks{}))
	if err == nil || !strings.Contains(err.Error(), "take warmup out") {
		t.Errorf("the error is %v", err)
	}
}
