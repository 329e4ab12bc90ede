package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"opcycle/bench"
)

// CampaignFolder is the folder of one campaign: its file, its state while it runs, a
// folder a phase for what suites write beside their result, and the result at the end.
type CampaignFolder struct {
	Folder *Folder
	Plan   CampaignPlan
	state  states
	lock   func()
}

// CampaignPlan is what a campaign was begun with: a resumed one goes on with it, whatever
// "auto" would be by now.
type CampaignPlan struct {
	Name    string      `json:"name"`
	Digest  string      `json:"digest"` // of the campaign's file
	Origin  string      `json:"origin"` // where it was; empty: shipped
	Started time.Time   `json:"started"`
	Host    bench.Host  `json:"host"`
	Tool    bench.Tool  `json:"tool"`
	Phases  []PhasePlan `json:"phases"`
	// Warnings are of the resumptions.
	Warnings []string `json:"warnings"`
}

// PhasePlan is every option of a phase as in effect.
type PhasePlan struct {
	Suite    string          `json:"suite"`
	Label    string          `json:"label"`
	Settings []bench.Setting `json:"settings"`
}

// The files of a campaign's folder, beside run.json.
const (
	CampaignName = "campaign.yaml"
	stateName    = "state"
	planName     = "plan"
)

// Digest tells campaign files apart.
func Digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// CreateCampaign makes the folder of a new campaign, c, whose file holds data.
func CreateCampaign(dir string, data []byte, plan CampaignPlan, c Campaign) (*CampaignFolder, error) {
	if !absent(filepath.Join(dir, stateName)) {
		return nil, fmt.Errorf("%s holds a campaign that was begun; go on with --resume %s, or choose another folder with --out", dir, dir)
	}
	folder, err := Create(dir, 0)
	if err != nil {
		return nil, err
	}
	f := &CampaignFolder{Folder: folder, Plan: plan, state: states{filepath.Join(dir, stateName)}}
	if f.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	f.Plan.Digest, f.Plan.Name = Digest(data), c.Name
	for _, p := range c.Phases {
		f.Plan.Phases = append(f.Plan.Phases, PhasePlan{p.Suite.Name, p.Label, bench.Settings(p.Table())})
	}
	if err = f.begin(data); err != nil {
		f.lock()
		return nil, fmt.Errorf("begin the campaign in %s: %w; choose another folder with --out", dir, err)
	}
	return f, nil
}

// begin writes the file and the plan. The plan is the last: without it there is nothing
// to resume.
func (f *CampaignFolder) begin(data []byte) error {
	t, err := f.Folder.Create(CampaignName)
	if err != nil {
		return err
	}
	_, err = t.Write(data)
	if err = errors.Join(err, t.Close()); err != nil {
		return err
	}
	if err = os.Mkdir(f.state.dir, 0o755); err != nil {
		return err
	}
	if err = syncFolder(f.Folder.Dir); err != nil {
		return err
	}
	return f.state.write(planName, f.Plan)
}

// OpenCampaign opens the folder of a campaign that was begun, and returns the campaign as it
// was begun.
func OpenCampaign(dir string, suites []bench.Suite) (*CampaignFolder, Campaign, error) {
	f := &CampaignFolder{Folder: &Folder{Dir: dir}, state: states{filepath.Join(dir, stateName)}}
	if !absent(filepath.Join(dir, ResultName)) {
		return nil, Campaign{}, fmt.Errorf("the campaign in %s has ended; \"opcycle report %s\" prints it", dir, filepath.Join(dir, ResultName))
	}
	if err := f.state.read(planName, &f.Plan); err != nil {
		return nil, Campaign{}, fmt.Errorf("no campaign to resume in %s: %w; begin one with \"opcycle campaign FILE --out %s\"", dir, err, dir)
	}
	c, err := f.campaign(suites)
	if err != nil {
		return nil, c, err
	}
	if f.lock, err = lockFolder(dir); err != nil {
		return nil, c, err
	}
	if err := f.state.clear(); err != nil {
		f.lock()
		return nil, c, fmt.Errorf("resume the campaign in %s: %w", dir, err)
	}
	return f, c, nil
}

// campaign reads the campaign's file as it was, and sets every option to what it was.
func (f *CampaignFolder) campaign(suites []bench.Suite) (Campaign, error) {
	path := filepath.Join(f.Folder.Dir, CampaignName)
	data, err := os.ReadFile(path)
	if err != nil {
		return Campaign{}, fmt.Errorf("resume the campaign in %s: %w", f.Folder.Dir, err)
	}
	if Digest(data) != f.Plan.Digest {
		return Campaign{}, fmt.Errorf("%s was changed after the campaign began: its phases would not be of one plan; put it back, or begin anew with \"opcycle campaign FILE\"", path)
	}
	c, err := DecodeCampaign(path, data, suites)
	if err == nil {
		err = f.Plan.restore(c)
	}
	c.Name = f.Plan.Name
	if err != nil {
		return c, fmt.Errorf("resume the campaign in %s: %w", f.Folder.Dir, err)
	}
	return c, nil
}

// Resume notes that the campaign goes on, on this host by this tool: another machine is
// refused, another kernel or build is in the result.
func (f *CampaignFolder) Resume(h bench.Host, tool bench.Tool) error {
	began := f.Plan.Host
	if h.Name != began.Name || h.CPUModel != began.CPUModel || len(h.CPUs) != len(began.CPUs) {
		return fmt.Errorf("the campaign in %s began on another machine (%s, %s, %d CPUs; this one is %s, %s, %d CPUs): go on there, or begin anew here",
			f.Folder.Dir, began.Name, began.CPUModel, len(began.CPUs), h.Name, h.CPUModel, len(h.CPUs))
	}
	for _, now := range []struct{ what, before, now string }{
		{"kernel", began.Kernel, h.Kernel}, {"kernel command line", began.Cmdline, h.Cmdline},
		{"opcycle", f.Plan.Tool.Version + " " + f.Plan.Tool.Commit, tool.Version + " " + tool.Commit},
	} {
		text := fmt.Sprintf("resumed with another %s: %q, begun with %q; its phases, or parts of one, are not of one system", now.what, now.now, now.before)
		if now.before != now.now && !slices.Contains(f.Plan.Warnings, text) {
			f.Plan.Warnings = append(f.Plan.Warnings, text)
		}
	}
	return f.state.write(planName, f.Plan)
}

// Close gives the folder to others.
func (f *CampaignFolder) Close() { f.lock() }

// Finish writes the result and removes the state.
func (f *CampaignFolder) Finish(file bench.File) error {
	if err := f.Folder.Save(file); err != nil {
		return err
	}
	if err := os.RemoveAll(f.state.dir); err != nil {
		return fmt.Errorf("remove the state of the ended campaign: %w", err)
	}
	return nil
}

// restore sets every option of c to what the campaign began with.
func (p CampaignPlan) restore(c Campaign) error {
	if len(p.Phases) != len(c.Phases) {
		return fmt.Errorf("the campaign began with %d phases, its file has %d", len(p.Phases), len(c.Phases))
	}
	for i, phase := range c.Phases {
		options := map[string]bench.Option{}
		for _, o := range phase.Table() {
			options[o.Name] = o
		}
		if len(options) != len(p.Phases[i].Settings) {
			return fmt.Errorf("phase %d: suite %s has %d options, it had %d; resume with the opcycle that began it (%s)",
				i+1, phase.Suite.Name, len(options), len(p.Phases[i].Settings), p.Tool.Version)
		}
		for _, s := range p.Phases[i].Settings {
			o, ok := options[s.Name]
			if !ok {
				return fmt.Errorf("phase %d: suite %s has no option %s any more; resume with the opcycle that began it (%s)", i+1, phase.Suite.Name, s.Name, p.Tool.Version)
			}
			if o.Get() == s.Value {
				continue
			}
			if err := o.Set(s.Value); err != nil {
				return fmt.Errorf("phase %d: %s: %w", i+1, s.Name, err)
			}
		}
	}
	return nil
}

// phaseFolder is the folder of what phase i writes beside its result.
func (f *CampaignFolder) phaseFolder(i int, suite string) (*Folder, error) {
	dir := filepath.Join(f.Folder.Dir, fmt.Sprintf("%d-%s", i+1, suite))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of phase %d: %w", i+1, err)
	}
	// What a killed part of this phase began and did not name; its suite begins it again.
	return &Folder{Dir: dir}, states{dir}.clear()
}

// lockFolder keeps other processes off a campaign. The mark is a socket's name, as in
// claim: it ends with the process.
func lockFolder(dir string) (unlock func(), err error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	l, err := net.Listen("unix", "@opcycle-campaign-"+Digest([]byte(real))[:32])
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another opcycle process runs the campaign in %s: wait for its end", dir)
	}
	if err != nil {
		return func() {}, nil // no abstract sockets here: then nobody can be warned
	}
	return func() { _ = l.Close() }, nil
}
