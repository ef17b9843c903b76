package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files lists the event files that paths name: files as they are, of folders
// all that end in .json, .jsonl or .ndjson, with .gz or without, sorted.
func Files(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		found, err := inFolder(p)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s holds no .json, .jsonl or .ndjson file", p)
		}
		files = append(files, found...)
	}
	return files, nil
}

func inFolder(folder string) (found []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".json", ".jsonl", ".ndjson"}, filepath.Ext(strings.TrimSuffix(path, ".gz"))) {
			return err
		}
		// A link counts as what it leads to; a pipe or a folder is no file.
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			found = append(found, path)
		}
		return err
	})
	return found, err
}
