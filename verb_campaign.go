package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opcycle/configs"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/run"
	"opcycle/workloads"

	"github.com/spf13/cobra"
)

func campaignVerb() *cobra.Command {
	var a campaign
	var formats *[]string
	cmd := &cobra.Command{
		Use:   "campaign [NAME | FILE.yaml]",
		Short: "run suites one after the other, for days, and go on after a power cut; without a name, list what is shipped",
		Long: `campaign runs the phases of one YAML file in order and puts all of them into one result.
NAME is one of those shipped:

` + campaignList() + `
A campaign file says

  name: mine                  # the file's name when it says nothing
  checkpoint: 30s             # at most a minute
  cores:                      # CPUs by role; auto finds them on this machine
    measured: auto            # the quietest one
    noise: auto               # the lowest of the housekeeping ones
    housekeeping: auto        # all others
  defaults:                   # options of every phase whose suite has them
    priority: 99
  phases:
  - suite: cyclictest         # every flag of "opcycle suite cyclictest" is a key here
    label: Without CAT        # tells two phases of a suite apart: its column in the report
    interval: 250us
    duration: 24h

and --dry-run prints the effective plan with every default, ready to be edited and run.

What was measured is written to the folder of the campaign (--out) every 30 s under a
temporary name, made durable and renamed; two such checkpoints are kept. After a power cut or a kill
-9, --resume FOLDER goes on from the last one: at most the time between two is lost, and
the result says so. Ctrl-C, SIGTERM and SIGHUP write a last checkpoint, report what there
is and exit 2; --resume goes on. A campaign file that was changed meanwhile is refused. A
phase that fails stands in the result as invalid, the others run, and the exit code is 2.

` + campaignBounds,
		Example: `  opcycle campaign 48-hour-smoke              the shape of the 48 hours in four minutes
  opcycle campaign 48-hour --out /data/48h    54 hours
  opcycle campaign --resume /data/48h         go on after a power cut
  opcycle campaign 48-hour --dry-run > mine.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && a.resume == "" {
				_, err := fmt.Fprint(cmd.OutOrStdout(), campaignList(), "\nopcycle campaign --help says how a file of your own looks.\n")
				return err
			}
			var err error
			if a.out, err = readOutputs(cmd.OutOrStdout(), *formats); err != nil {
				return err
			}
			a.args, a.stderr = args, cmd.ErrOrStderr()
			return a.run(cmd.Context())
		},
	}
	formats = formatFlag(cmd)
	cmd.Flags().StringVar(&a.dir, "out", "", "folder of the campaign (results/<UTC time>)")
	cmd.Flags().StringVar(&a.resume, "resume", "", "folder of a campaign to go on with")
	cmd.Flags().BoolVar(&a.dry, "dry-run", false, "print the effective plan as YAML and stop")
	cmd.MarkFlagsMutuallyExclusive("out", "resume")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "resume")
	return cmd
}

// campaignBounds states what 48 hours cost.
const campaignBounds = `What 48-hour takes of the machine: the conductor stays below 64 MB of
memory (36 MB measured with the state of a whole phase), its folder below 16 MB (a
checkpoint is at most 1.8 MB, caterpillar's; cyclictest's 0.5 MB), and the disk gets about
2 GB over the 54 hours, 11 KB a second, all of it from the housekeeping CPUs.`

func campaignList() string {
	var b strings.Builder
	for _, name := range configs.Campaigns() {
		data, err := configs.Campaign(name)
		if err != nil {
			panic(err) // of its own list
		}
		first, _, _ := strings.Cut(string(data), "\n")
		fmt.Fprintf(&b, "  %-14s %s\n", name, strings.TrimPrefix(first, "# "))
	}
	return b.String()
}

// campaign is one call of the verb.
type campaign struct {
	args        []string
	dir, resume string
	dry         bool
	out         outputs
	stderr      io.Writer
}

func (a campaign) run(ctx context.Context) error {
	if a.resume != "" {
		return a.again(ctx)
	}
	file, data, err := readCampaign(a.args[0])
	if err != nil {
		return err
	}
	c, err := run.DecodeCampaign(file, data, workloads.All())
	if err != nil {
		return err
	}
	h, err := host.Read("/")
	if err != nil {
		return err
	}
	if err := c.Resolve(h); err != nil {
		return err
	}
	if a.dry {
		text, err := c.YAML()
		if err == nil {
			_, err = a.out.stdout.Write(text)
		}
		return err
	}
	if a.dir == "" {
		a.dir = filepath.Join("results", time.Now().UTC().Format("20060102T150405Z"))
	}
	plan := run.CampaignPlan{Origin: origin(a.args[0]), Started: time.Now().UTC(), Host: h, Tool: tool()}
	folder, err := run.CreateCampaign(a.dir, data, plan, c)
	if err != nil {
		return err
	}
	return a.conduct(ctx, run.Conduct{Campaign: c, Folder: folder, Host: h})
}

// again goes on with a campaign.
func (a campaign) again(ctx context.Context) error {
	folder, c, err := run.OpenCampaign(a.resume, workloads.All())
	if err != nil {
		return err
	}
	h, err := host.Read("/")
	if err == nil {
		err = a.unchanged(folder)
	}
	if err == nil {
		err = folder.Resume(h, tool())
	}
	if err != nil {
		folder.Close()
		return err
	}
	return a.conduct(ctx, run.Conduct{Campaign: c, Folder: folder, Host: h})
}

// unchanged refuses a campaign whose file says something else by now: the one that was
// named, else the one that the campaign began from, where it is still there.
func (a campaign) unchanged(folder *run.CampaignFolder) error {
	file := folder.Plan.Origin
	if len(a.args) > 0 {
		file = a.args[0]
	}
	if file == "" {
		return nil
	}
	_, data, err := readCampaign(file)
	if len(a.args) == 0 && errors.Is(err, os.ErrNotExist) {
		return nil // its copy in the folder is what counts
	}
	if err != nil {
		return err
	}
	if run.Digest(data) != folder.Plan.Digest {
		copied := filepath.Join(a.resume, run.CampaignName)
		return fmt.Errorf("%s was changed after the campaign in %s began: put it back, or go on with the campaign as it was: opcycle campaign %s --resume %s",
			file, a.resume, copied, a.resume)
	}
	return nil
}

// conduct leads the campaign on and reports it.
func (a campaign) conduct(ctx context.Context, c run.Conduct) (err error) {
	defer c.Folder.Close()
	if c.Prober, err = prober(); err != nil {
		return err
	}
	if err := rt.SetProcessAffinity(c.Campaign.Quiet()); err != nil {
		fmt.Fprintln(a.stderr, "opcycle: the conductor could not leave the measured CPUs:", err)
	}
	dir := c.Folder.Folder.Dir
	resume := "opcycle campaign --resume " + dir
	fmt.Fprintf(a.stderr, "everything is kept in %s; after a power cut: %s\n", dir, resume)
	need, err := c.Need()
	if err != nil {
		return err
	}
	machine := lookAround(ctx, need) // of this leg: a resumed one looks again
	bar := newProgress(a.stderr)
	c.Root, c.Progress = "/", bar.show
	file, ended, err := c.Run(ctx)
	bar.end()
	machine.into(&file, c.Folder.Folder)
	if err != nil {
		return fmt.Errorf("%w (what was measured until then is kept: %s)", err, resume)
	}
	if ended {
		if err := c.Folder.Finish(file); err != nil {
			return err
		}
		return a.out.report(filepath.Join(dir, run.ResultName))
	}
	err = a.out.write(file)
	fmt.Fprintf(a.stderr, "interrupted; go on with: %s\n", resume)
	return err
}

// readCampaign finds a shipped campaign by name, or a file by its ending or path.
func readCampaign(name string) (file string, data []byte, err error) {
	if !isPath(name) {
		data, err = configs.Campaign(name)
		return name + ".yaml", data, err
	}
	data, err = os.ReadFile(name)
	if err != nil {
		err = fmt.Errorf("read the campaign: %w", err)
	}
	return name, data, err
}

// origin is where a campaign's file is, whatever folder the resumption starts in.
func origin(name string) string {
	if !isPath(name) {
		return name
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// isPath tells a file from the name of something that is shipped.
func isPath(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || strings.ContainsRune(name, os.PathSeparator)
}
