package execprog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

// block returns the arguments of a command with metrics: name, kind, where and
// unit of each.
func block(t *testing.T, command []string, metrics ...[4]string) matrix.Args {
	t.Helper()
	args := workloadtest.Args(t, Type(), workloadtest.Block{"command": command})
	var blocks []cty.Value
	for _, m := range metrics {
		fields := map[string]cty.Value{
			"name": cty.StringVal(m[0]), "regex": cty.NullVal(cty.String), "json": cty.NullVal(cty.String), "unit": cty.StringVal("count"),
		}
		if m[1] != "" {
			fields[m[1]] = cty.StringVal(m[2])
		}
		if m[3] != "" {
			fields["unit"] = cty.StringVal(m[3])
		}
		blocks = append(blocks, cty.ObjectVal(fields))
	}
	args["metric"] = cty.TupleVal(blocks)
	return args
}

func do(ctx context.Context, t *testing.T, args matrix.Args, target workload.Target) (workload.Result, string, error) {
	t.Helper()
	w, err := Type().New(args)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := workload.NewRecorder(dir, workload.Hooks{})
	err = w.Run(ctx, target, r)
	return r.Result(), dir, err
}

func bare(t *testing.T) workload.Target {
	return workload.Target{Dir: t.TempDir(), Source: t.TempDir(), Guard: workloadtest.Guard, Iteration: 1, Seed: 7}
}

func shell(script string) []string { return []string{"sh", "-c", script} }

func TestMetrics(t *testing.T) {
	const fio = `{"jobs": [{"read": {"iops": 1234.5, "clat_ns": {"percentile": {"99.000000": 700}}, "none": null, "name": "x"}}], "tpmC": "31.0", "a.b": {"c": 1}, "a": {"b": 2}}`
	for _, test := range []struct {
		name, prints string
		metric       [4]string
		value        float64
		fault        string
	}{
		{"a line", `echo 'tps = 556.036595 (without'`, [4]string{"tps", "regex", `^tps = ([0-9.]+) `, "1/s"}, 556.036595, ""},
		{"standard error", `echo 'n=-1.5e3' >&2`, [4]string{"n", "regex", `n=(\S+)`, ""}, -1500, ""},
		{"two lines", `printf 'a\nb 3\n'`, [4]string{"n", "regex", `a\nb (\d)$`, ""}, 3, ""},
		{"nothing", `echo done`, [4]string{"n", "regex", `n=(\d+)`, ""}, 0, "metric n: nothing that it printed matches"},
		{"twice", `printf 'n=1 first\nn=1 second\n'`, [4]string{"n", "regex", `n=(\d+)`, ""}, 0, `first "n=1 first" and then "n=1 second"`},
		{"no number", `echo 'rate 1,234 a second'`, [4]string{"n", "regex", `rate (\S+)`, ""}, 0, `"1,234" is no decimal number, in the line "rate 1,234 a second"`},
		{"not a number", `echo n=nan`, [4]string{"n", "regex", `n=(\S+)`, ""}, 0, `"nan" is no decimal number`},
		{"too large", `echo n=1e999`, [4]string{"n", "regex", `n=(\S+)`, ""}, 0, "beyond the range"},
		{"no group", `echo n`, [4]string{"n", "regex", `n(=(\d))?`, ""}, 0, "the group of the regular expression is not in"},
		{"a path", "echo '" + fio + "'", [4]string{"iops", "json", "jobs.0.read.iops", "1/s"}, 1234.5, ""},
		{"a key with dots", "echo '" + fio + "'", [4]string{"p99", "json", "jobs.0.read.clat_ns.percentile.99.000000", "ns"}, 700, ""},
		{"another key with dots", "echo '" + fio + "'", [4]string{"n", "json", "a.b.c", ""}, 1, ""},
		{"a text", "echo '" + fio + "'; echo note >&2", [4]string{"tpmC", "json", "tpmC", "1/min"}, 31, ""},
		{"no such path", "echo '" + fio + "'", [4]string{"n", "json", "jobs.1.read.iops", ""}, 0, "there is no jobs.1.read.iops in the JSON"},
		{"null", "echo '" + fio + "'", [4]string{"n", "json", "jobs.0.read.none", ""}, 0, "there is no jobs.0.read.none in the JSON that it printed, or it is null"},
		{"an object", "echo '" + fio + "'", [4]string{"n", "json", "jobs.0.read", ""}, 0, "jobs.0.read is no number"},
		{"words", "echo '" + fio + "'", [4]string{"n", "json", "jobs.0.read.name", ""}, 0, `"x" is no decimal number`},
		{"no JSON", "echo 'n: 1'", [4]string{"n", "json", "n", ""}, 0, "is not JSON"},
		{"cut short", `echo '{"n": 1'`, [4]string{"n", "json", "n", ""}, 0, "is not JSON: unexpected EOF"},
		{"nothing printed", "true", [4]string{"n", "json", "n", ""}, 0, "printed no JSON"},
		{"more than JSON", `echo '{"n": 1}'; echo bye`, [4]string{"n", "json", "n", ""}, 0, `goes on after the JSON, with "bye"`},
		{"a status", "echo n=1; exit 3", [4]string{"n", "regex", `n=(\d+)`, ""}, 0, "exit status 3\nn=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, _, err := do(t.Context(), t, block(t, shell(test.prints), test.metric), bare(t))
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("the error is %v, want %q", err, test.fault)
				}
				if _, ok := result.Metric(test.metric[0]); ok {
					t.Error("a metric is recorded nevertheless")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			unit := test.metric[3]
			if unit == "" {
				unit = "count"
			}
			for _, m := range result.Metrics {
				if m.Name == test.metric[0] && (m.Value != test.value || m.Unit != unit) {
					t.Errorf("the metric is %v %s, want %v %s", m.Value, m.Unit, test.value, unit)
				}
			}
			workloadtest.Metric(t, result, test.metric[0])
		})
	}
}

// TestPlace runs a program that stands beside the experiment, in the scratch
// directory and elsewhere.
func TestPlace(t *testing.T) {
	target := bare(t)
	target.Env = []string{"DBMATRIX_SOCKET=/run/s"}
	script := "#!/bin/sh\necho \"$DBMATRIX_SOCKET $DBMATRIX_SEED $CLIENTS $1 $PWD\"\n"
	if err := os.WriteFile(filepath.Join(target.Source, "bench.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(target.Source, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": target.Dir, "sub": filepath.Join(target.Source, "sub"), "/": "/"} {
		args := block(t, []string{"./bench.sh", "a b"})
		args["env"] = cty.MapVal(map[string]cty.Value{"CLIENTS": cty.StringVal("4")})
		args["dir"] = cty.StringVal(dir)
		result, artifacts, err := do(t.Context(), t, args, target)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"exec.1.sh", "exec.1.txt"}, result.Artifacts); diff != "" {
			t.Error(diff)
		}
		printed, _ := os.ReadFile(filepath.Join(artifacts, "exec.1.txt"))
		if got, want := string(printed), "/run/s 7 4 a b "+want+"\n"; got != want {
			t.Errorf("in %q: it printed %q, want %q", dir, got, want)
		}
		kept, _ := os.ReadFile(filepath.Join(artifacts, "exec.1.sh"))
		if want := "export CLIENTS=4\n" + filepath.Join(target.Source, "bench.sh") + " 'a b'\n"; !strings.HasSuffix(string(kept), want) {
			t.Errorf("the command is kept as %q, want %q", kept, want)
		}
		if workloadtest.Metric(t, result, "secs") <= 0 {
			t.Error("it took no time")
		}
	}
}

func TestServer(t *testing.T) {
	typ := Type()
	for server, want := range map[bool]bool{true: true, false: false} {
		if got := typ.Server(workloadtest.Args(t, typ, workloadtest.Block{"command": []string{"true"}, "server": server})); got != want {
			t.Errorf("server = %v: %v", server, got)
		}
	}
	port := workloadtest.Args(t, typ, workloadtest.Block{"command": []string{"true"}, "port": true})
	if !typ.Port(port) || typ.Port(workloadtest.Args(t, typ, workloadtest.Block{"command": []string{"true"}})) {
		t.Error("a port is needed where none is asked for, or not where one is")
	}
	listening := bare(t)
	listening.Port = 3307
	if _, _, err := do(t.Context(), t, port, bare(t)); err == nil || !strings.Contains(err.Error(), "the server has none") {
		t.Errorf("without a port: the error is %v", err)
	}
	named := block(t, shell("echo port $DBMATRIX_PORT"), [4]string{"n", "regex", `^port (\d+)$`, ""})
	named["port"] = cty.True
	result, _, err := do(t.Context(), t, named, listening)
	if err != nil || workloadtest.Metric(t, result, "n") != 3307 {
		t.Errorf("the port is not named: %v", err)
	}
	target := workloadtest.Start(t)
	target.Env = []string{"DBMATRIX_SOCKET=" + target.Socket}
	args := block(t, shell(`mariadb --no-defaults -uroot -S "$DBMATRIX_SOCKET" -Ne 'SELECT 6 * 7'`), [4]string{"n", "regex", `^(\d+)$`, ""})
	result, _, err = do(t.Context(), t, args, target)
	if err != nil {
		t.Fatal(err)
	}
	if got := workloadtest.Metric(t, result, "n"); got != 42 {
		t.Errorf("the server says %v, want 42", got)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, context.Canceled)
	defer cancel()
	started := time.Now()
	if _, _, err := do(ctx, t, block(t, shell("sleep 60 & wait")), bare(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want the interrupt", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

func TestRefused(t *testing.T) {
	target := bare(t)
	if _, _, err := do(t.Context(), t, block(t, []string{"program-that-is-not-there"}), target); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Errorf("an absent program: the error is %v", err)
	}
	if err := Type().Needs(block(t, []string{"program-that-is-not-there"}), target.Source); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Errorf("an absent program: before the start the error is %v", err)
	}
	if err := Type().Needs(block(t, []string{"true"}), target.Source); err != nil {
		t.Errorf("a program that is there: %v", err)
	}
	target.Warmup = time.Second
	if _, _, err := do(t.Context(), t, block(t, []string{"true"}), target); err == nil || !strings.Contains(err.Error(), "take warmup out") {
		t.Errorf("a warm-up: the error is %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		metrics [][4]string
		env     map[string]cty.Value
		command []string
		want    string
	}{
		{nil, nil, []string{"true"}, ""},
		{nil, nil, []string{}, "no program is named"},
		{nil, nil, []string{""}, "no program is named"},
		{nil, map[string]cty.Value{"DBMATRIX_DSN": cty.StringVal("x")}, []string{"true"}, "DBMATRIX_DSN is set by dbmatrix"},
		{nil, map[string]cty.Value{"A=B": cty.StringVal("x")}, []string{"true"}, `"A=B" is no name of a variable`},
		{[][4]string{{"secs", "regex", "(1)", ""}}, nil, []string{"true"}, `metric "secs": the name is taken`},
		{[][4]string{{"n", "", "", ""}}, nil, []string{"true"}, `metric "n": nothing says where it is`},
		{[][4]string{{"n", "regex", "(", ""}}, nil, []string{"true"}, `metric "n": the regular expression is not valid: error parsing regexp: missing closing ): ` + "`(?m)(`"},
		{[][4]string{{"n", "regex", "n", ""}}, nil, []string{"true"}, `metric "n": the regular expression has no group`},
	} {
		args := block(t, test.command, test.metrics...)
		args["env"] = cty.NullVal(cty.Map(cty.String))
		if test.env != nil {
			args["env"] = cty.MapVal(test.env)
		}
		var got []string
		for _, fault := range Type().Check(args, matrix.Build{}) {
			got = append(got, fault.Summary)
			if !strings.HasSuffix(fault.Detail, ".") {
				t.Errorf("%s: the way out is no sentence: %q", fault.Summary, fault.Detail)
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test, diff)
		}
	}
}

// FuzzFollow checks that no document and no path make the reader panic, and that
// what it finds is a number.
func FuzzFollow(f *testing.F) {
	f.Add(`{"a": [1, {"b.c": "2"}]}`, "a.1.b.c")
	f.Add(`[1e400]`, "0")
	f.Fuzz(func(t *testing.T, text, path string) {
		document, err := readJSON(text)
		if err != nil {
			return
		}
		if value, err := follow(document, path); err == nil && value-value != 0 {
			t.Errorf("%s in %s is %v", path, text, value)
		}
	})
}
