package main

import (
	"os"
	"strings"
	"testing"

	"headwater/cmd/headwater/shop"
)

func TestReadmeAsksTheDemosQuestion(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), strings.ReplaceAll(shop.Question, "\n", "\n    ")) {
		t.Errorf("README.md does not ask shop.Question:\n%s", shop.Question)
	}
}
