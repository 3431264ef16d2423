package report

import "testing"

// TestFactTitle checks what facts are called where nobody knows the workload.
func TestFactTitle(t *testing.T) {
	for name, want := range map[string]string{
		"scan.scan": "scan: the index of its last scan", "scan2.scan": "scan2: the index of its last scan",
		"l.x.rows_inserted": "l.x: what rows_inserted counts", "job.program": "job: the program",
		"host.kernel": "host.kernel", "load.seed": "load.seed", "scan": "scan",
	} {
		if got := factTitle(name); got != want {
			t.Errorf("%s is called %q, want %q", name, got, want)
		}
	}
	a := buildModel(t, madeUp).Appendix
	a.Facts = append(a.Facts, Setting{"scan.scan", "pdc"})
	a.nameFacts()
	if got := a.Facts[len(a.Facts)-1].Name; got != "scan: the index of its last scan" {
		t.Errorf("the appendix says %q", got)
	}
}
