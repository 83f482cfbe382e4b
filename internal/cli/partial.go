package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/worker"
	"github.com/discreet-rl/discreet/scale"
)

func (f *shardFlags) validatePartitions(cmd *cobra.Command) error {
	e, _ := f.engine()
	switch {
	case f.partitions < 0:
		return usage(fmt.Errorf("evaluate: --partitions %d; want 1 or more", f.partitions))
	case f.shards != "":
		return usage(errors.New("evaluate: --partitions is in place of --shards; give one of them"))
	case f.on != onLocal && f.on != onExec && !e.Groups:
		return usage(fmt.Errorf("evaluate: --on %s groups no rows; give --shards, or --on exec", f.on))
	case f.on == onLocal && !asks(cmd):
		return usage(errors.New("evaluate: --partitions has an engine group rows; give --on exec and --command, or ask from Python (docs/scale.md)"))
	}
	return nil
}

// asks tells that the command answers a call of a program that can be asked.
func asks(cmd *cobra.Command) bool {
	_, ok := cmd.Context().Value(callKey{}).(worker.Call)
	return ok
}

// askedJSON asks the caller to have partitions answer a task, by files *.part in Out.
type askedJSON struct {
	Kind       string `json:"kind"`
	Round      int    `json:"round"`
	Partitions int    `json:"partitions"`
	Task       string `json:"task"`
	Out        string `json:"out"`
	Key        string `json:"key"`
}

// answeredJSON is the caller's reply. Both are for the curator, who the caller is.
type answeredJSON struct {
	Refused string   `json:"refused"`
	Remarks []string `json:"remarks"`
}

// grouped has the caller make a round.
func grouped(cmd *cobra.Command) func(context.Context, scale.Round, string, string) error {
	return func(_ context.Context, r scale.Round, task, out string) error {
		call := cmd.Context().Value(callKey{}).(worker.Call)
		text, _, err := call.Ask(askedJSON{"round", r.Task.Round, r.Task.Shards, task, out, fmt.Sprintf("%x", r.Key)}, nil)
		var a answeredJSON
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: round %d: %w", scale.ErrEngine, r.Task.Round, err)
		case a.Refused != "":
			return fmt.Errorf("%w: %s", scale.ErrShard, a.Refused)
		}
		for _, line := range a.Remarks {
			notify(cmd, forCurator, brief(line))
		}
		return nil
	}
}

func newPartial() *cobra.Command {
	var out string
	var rows partitionFlags
	cmd := command("partial TASK.json [SHARD.parquet] -o FILE.part", "Answer a task of evaluate --shards for one shard: all that a worker does",
		`Read and check a shard, replay the question of the task on its persons, and write
the sum that the task asks for, masked under the run key (DISCREET_RUN_KEY, or
the file that DISCREET_RUN_KEY_FILE names). The exit code is 2 where task, shard
or key are not right. What is wrong with the data goes to a file beside the
shard, for its curator. With --partition rows at standard input, in the format of
the question, stand in the place of a shard, and what is wrong with them is told in
a file beside FILE.part.`, between(1, 2, "a task, and a shard or --partition"),
		func(cmd *cobra.Command, args []string) error {
			if err := rows.validate(cmd, args, out); err != nil {
				return err
			}
			key, found, err := scale.KeyFromEnvironment()
			if err != nil {
				return err
			}
			if !found {
				return noRunKey()
			}
			task, hash, err := scale.ReadTask(args[0])
			if err != nil {
				return err
			}
			if rows.dir != "" {
				task.Dir = rows.dir // the question's hash covers what its files hold
			}
			if rows.used(cmd) {
				return rows.answer(cmd, task, hash, key, out)
			}
			p, err := scale.Answer(cmd.Context(), task, hash, args[1], key)
			if err != nil {
				return err
			}
			return writePartial(out, p)
		})
	cmd.Flags().StringVarP(&out, "out", "o", "", "file of the partial, a new one")
	cmd.Flags().IntVar(&rows.number, "partition", 0, "answer for the rows at standard input, which are those of this partition")
	cmd.Flags().StringVar(&rows.dir, "dir", "", "where relative paths of the question start here, in place of the driver's directory")
	cmd.Flags().BoolVar(&rows.places, "places", false, "print of each row at standard input the number of its partition, 4 bytes each, little-endian, and answer nothing")
	return cmd
}

// partitionFlags are those about rows that an engine groups.
type partitionFlags struct {
	number int
	places bool
	dir    string
}

func (f *partitionFlags) used(cmd *cobra.Command) bool {
	return f.places || cmd.Flags().Changed("partition")
}

func (f *partitionFlags) validate(cmd *cobra.Command, args []string, out string) error {
	switch {
	case f.used(cmd) == (len(args) == 2) || f.places && cmd.Flags().Changed("partition"):
		return usage(errors.New("partial: want a shard, --partition or --places"))
	case out == "" != f.places:
		return usage(errors.New("partial: want -o FILE.part, which --places does not write"))
	}
	return nil
}

// answer is a worker's life for rows at standard input.
func (f *partitionFlags) answer(cmd *cobra.Command, task scale.Task, hash scale.Hash, key scale.RunKey, out string) error {
	c, err := discreet.Parse("question", []byte(task.Question))
	if err != nil {
		return err
	}
	path, err := received(cmd, c.Data.Format)
	if err != nil {
		return err
	}
	var worker scale.Worker
	if f.places {
		all, err := worker.Places(cmd.Context(), task, path, key)
		if err != nil {
			return err
		}
		return binary.Write(cmd.OutOrStdout(), binary.LittleEndian, all)
	}
	p, err := worker.Partition(cmd.Context(), task, hash, f.number, path, out, key)
	if err != nil {
		return err
	}
	return writePartial(out, p)
}
