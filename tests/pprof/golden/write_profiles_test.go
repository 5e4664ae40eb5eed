// Compiled into a copy of pprof's own driver package: writes the profiles that its golden tests are
// about to files, with names as those tests have them when they make their reports.
package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/internal/plugin"
	"github.com/google/pprof/internal/proftest"
	"github.com/google/pprof/profile"
)

// Through pprof's own command, as the tests do: what it keeps of a profile is part of the answer.
func saveAs(t *testing.T, source, command, path string) {
	saved := currentConfig()
	defer setCurrentConfig(saved)
	flags := baseFlags()
	flags.args = []string{source}
	flags.strings["output"] = path
	if command != "proto" {
		flags.bools["proto"] = false
		flags.bools[command] = true
		flags.bools["addresses"] = true
	}
	options := setDefaults(&plugin.Options{Flagset: flags})
	options.Fetch = testFetcher{}
	options.Sym = testSymbolizer{}
	options.UI = &proftest.TestUI{T: t, AllowRx: "."}
	if err := PProf(options); err != nil {
		t.Fatalf("%s: %v", source, err)
	}
}

func giveNames(t *testing.T, path string) {
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := profile.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := (testSymbolizeDemangler{}).Symbolize("", nil, p); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
}

func TestWriteProfiles(t *testing.T) {
	directory := os.Getenv("PROFILES_TO")
	for _, source := range strings.Fields(os.Getenv("PROFILES_OF")) {
		for _, command := range []string{"proto", "topproto"} {
			path := filepath.Join(directory, source+"."+command)
			saveAs(t, source, command, path)
			giveNames(t, path)
		}
	}
}
