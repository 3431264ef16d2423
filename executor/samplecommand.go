package executor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"dbmatrix/matrix"
)

// sampleCommands runs the programs that the phase samples with, each again and
// again, until the returned function is called. What they print is kept; a time
// stands before each pass.
func (ph *phaseRun) sampleCommands(ctx context.Context, dir string) (stop func() []string) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var files []string
	for _, c := range ph.p.Sample.Exec {
		path := filepath.Join(dir, "sample-"+fileName(c.Name)+".log")
		files = append(files, path)
		wg.Go(func() {
			if err := ph.sampleCommand(ctx, c, path); err != nil {
				ph.event(Event{Kind: Notice, Run: ph.run, Message: fmt.Sprintf("sample %q: %s", c.Name, err)})
			}
		})
	}
	return func() []string {
		cancel()
		wg.Wait()
		return files
	}
}

// sampleCommand runs one program until the context ends. A pass that fails is
// noted in the file, and ends nothing.
func (ph *phaseRun) sampleCommand(ctx context.Context, c matrix.SampleCommand, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	tick := time.NewTicker(max(c.Every, time.Second))
	defer tick.Stop()
	args := ph.places().fill(c.Command)
	for {
		fmt.Fprintf(out, "# %s\n", time.Now().UTC().Format(time.RFC3339Nano))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env, cmd.Dir = append(os.Environ(), ph.env(ph.p.Settings)...), ph.plan.Experiment.Dir
		cmd.Stdout, cmd.Stderr = out, out
		if err := ph.machine.guard(ctx, cmd); err != nil && ctx.Err() == nil {
			fmt.Fprintf(out, "# %s\n", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
