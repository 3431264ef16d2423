package client_test

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// BenchmarkPointSelect is prepared point selects over the unix socket, beside
// sysbench's on the same server and tables. It reports the client's rate and its
// CPU time of a query, and both in shares of sysbench's: medians of pairs, each
// of which runs one straight after the other.
func BenchmarkPointSelect(b *testing.B) {
	if _, err := exec.LookPath("sysbench"); err != nil {
		workloadtest.Missing(b, "sysbench")
	}
	target := workloadtest.Start(b)
	conn := open(b, target)
	execute(b, conn, "CREATE DATABASE sbtest")
	sysbench(b, target, 1, "prepare")
	for _, clients := range []int{1, 2, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			var rates, cpus, rateRatios, cpuRatios []float64
			for b.Loop() {
				for range benchPairs {
					rate, cpu := pointSelects(b, target, clients)
					theirRate, theirCPU := sysbench(b, target, clients, "run")
					rates, cpus = append(rates, rate), append(cpus, cpu)
					rateRatios, cpuRatios = append(rateRatios, rate/theirRate), append(cpuRatios, cpu/theirCPU)
				}
			}
			b.ReportMetric(median(rates), "queries/s")
			b.ReportMetric(median(cpus), "cpu-us/query")
			b.ReportMetric(median(rateRatios), "rate/sysbench")
			b.ReportMetric(median(cpuRatios), "cpu/sysbench")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

const (
	benchRows  = 100000
	benchTime  = 2 * time.Second
	benchPairs = 5
)

func pointSelects(b *testing.B, target workload.Target, clients int) (rate, cpu float64) {
	conns, err := client.OpenAll(b.Context(), target, "sbtest", clients)
	if err != nil {
		b.Fatal(err)
	}
	defer client.CloseAll(conns)
	r := workload.NewRecorder("", workload.Hooks{})
	var total atomic.Int64
	var workers []client.Worker
	for i, conn := range conns {
		stmt, err := conn.Prepare("SELECT c FROM sbtest1 WHERE id = ?")
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, uint64(i)))
		track := r.Track(workload.Operation{Name: "select"}, i+1)
		workers = append(workers, client.Worker{Conn: conn, Work: func(gate *client.Gate) error {
			n := int64(0)
			defer func() { total.Add(n) }()
			args := make([]driver.Value, 1)
			for !gate.Stopped() {
				started := r.Elapsed()
				if started >= benchTime {
					return nil
				}
				args[0] = 1 + random.Int64N(benchRows)
				if _, err := stmt.Query(args, nil); err != nil {
					return err
				}
				track.Done(1, started, r.Elapsed())
				n++
			}
			return nil
		}})
	}
	before := cpuTime(b, syscall.RUSAGE_SELF)
	if err := client.Run(b.Context(), r.Begin, r.End, workers); err != nil {
		b.Fatal(err)
	}
	used := cpuTime(b, syscall.RUSAGE_SELF) - before
	n := float64(total.Load())
	result := r.Result()
	return n / result.End.Sub(result.Start).Seconds(), used.Seconds() * 1e6 / n
}

var queryCount = regexp.MustCompile(`queries: +(\d+) +\(([\d.]+) per sec`)

func sysbench(b *testing.B, target workload.Target, clients int, step string) (rate, cpu float64) {
	cmd := exec.CommandContext(b.Context(), "sysbench", "--db-driver=mysql", "--mysql-socket="+target.Socket, "--mysql-user=root",
		"--table_size="+strconv.Itoa(benchRows), "--threads="+strconv.Itoa(clients), "--time="+strconv.Itoa(int(benchTime.Seconds())),
		"--rand-type=uniform", "oltp_point_select", step)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err, out.String())
	}
	if step == "prepare" {
		return 0, 0
	}
	match := queryCount.FindStringSubmatch(out.String())
	n, _ := strconv.ParseFloat(match[1], 64)
	rate, _ = strconv.ParseFloat(match[2], 64)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return rate, used.Seconds() * 1e6 / n
}

func cpuTime(b *testing.B, who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
