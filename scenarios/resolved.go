package scenarios

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Resolved returns the scenario with every default spelt out: as YAML, which
// parses to the same spec again, and as JSON with the same keys, where
// quantities are strings such as "400KB", and counts and ratios numbers.
func Resolved(s *Spec) (yamlText, jsonText []byte, err error) {
	var y bytes.Buffer
	if s.Description != "" {
		for line := range strings.SplitSeq(strings.ToValidUTF8(s.Description, "\uFFFD"), "\n") {
			y.WriteString(strings.TrimRight("# "+line, " \r") + "\n")
		}
	}
	e := yaml.NewEncoder(&y)
	e.SetIndent(2)
	if err := e.Encode(resolvedTree(s).node()); err != nil {
		return nil, nil, err
	}
	return y.Bytes(), resolvedJSON(s), nil
}

func resolvedJSON(s *Spec) []byte {
	var j bytes.Buffer
	resolvedTree(s).json(&j, "")
	j.WriteByte('\n')
	return j.Bytes()
}

// Hash returns the SHA-256, in hex, of the resolved scenario: equal for two
// files that say the same, whatever their order, comments and units.
func Hash(s *Spec) string {
	var text bytes.Buffer
	resolvedTree(s).json(&text, "")
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:])
}

func resolvedTree(s *Spec) *tree {
	t := structTree(reflect.ValueOf(s).Elem())
	for i, key := range t.keys {
		if key == "duration" && s.UntilDone {
			t.items[i] = &tree{shape: quantity, text: untilDone}
		}
	}
	return t
}
