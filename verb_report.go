package main

import (
	"path/filepath"

	"opcycle/configs"
	"opcycle/report"

	"github.com/spf13/cobra"
)

func reportVerb() *cobra.Command {
	var formats *[]string
	var against *string
	cmd := &cobra.Command{
		Use:   "report FILE | FOLDER",
		Short: "print a result again, from its file alone",
		Long: `report prints what run printed, from run.json alone. Its exit code is the run's: 0 every
budget passed, 1 a budget failed, 2 invalid, incomplete or inconclusive. Of a FOLDER it takes
the run.json in it; of one of "run --repeat" it prints what the runs differ by.

--format says in which form, and FORMAT=PATH writes it into a file; without a form for
standard output, the text goes there:

` + formatHelp(),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := readOutputs(cmd.OutOrStdout(), *formats)
			if out.against = *against; err == nil {
				_, err = references(out.against) // said before the file is looked for
			}
			if err != nil {
				return err
			}
			path, err := resultIn(args[0])
			if err != nil {
				return err
			}
			if filepath.Base(path) == repeatName {
				return reportRepeat(path, out)
			}
			return out.report(path)
		},
	}
	formats, against = formatFlag(cmd), againstFlag(cmd)
	return cmd
}

func referencesVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "references",
		Short: "list the vendors' published figures with source and conditions",
		Long: `references lists every published figure that a report may stand beside, with vendor,
product, platform, conditions and source, and whether it is comparable with a run of
either topology. Cells that contradict each other are marked "inconsistent".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			refs, err := report.ReadReferences(configs.References())
			if err != nil {
				return err
			}
			return report.References(cmd.OutOrStdout(), refs)
		},
	}
}
