package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// Where a pod has the plan and the directory of the sweep.
const (
	podPlan = "/plan"
	podOut  = "/sweeps"
)

// mostConfig bounds a ConfigMap: 1 MiB, less what else is in it.
const mostConfig = 1<<20 - 1<<14

// emitK8s writes a ConfigMap with the plan and its scenario, and an Indexed Job
// whose pods are shards. A pod that is lost is replaced and goes on with
// --resume; bad input, exit code 2, is not tried again.
func emitK8s(e *emission) (string, error) {
	switch {
	case e.image == "":
		return "", errors.New("k8s needs --image: a container image that has the program")
	case e.claim == "":
		return "", errors.New("k8s needs --claim: a PersistentVolumeClaim that all pods can write to")
	case e.out != "" && (!filepath.IsLocal(e.out) || strings.ContainsAny(e.out, "'\"$`")):
		return "", fmt.Errorf("--out %s: for k8s it is a directory in the claim: want a plain relative name", e.out)
	case !dnsLabel(e.namespace):
		return "", fmt.Errorf("--namespace %s: want 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends", e.namespace)
	case !dnsName(e.claim):
		return "", fmt.Errorf("--claim %s: want 1 to 253 of a-z, 0-9, - and ., with a letter or digit at both ends", e.claim)
	case strings.ContainsAny(e.image, " \t"):
		return "", fmt.Errorf("--image %s: the name of an image has no blanks", e.image)
	case len(e.text)+len(e.source.Text) > mostConfig:
		return "", fmt.Errorf("plan and scenario have %d bytes: a ConfigMap holds at most %d", len(e.text)+len(e.source.Text), mostConfig)
	}
	plan, scenario, err := e.podFiles()
	if err != nil {
		return "", err
	}
	out := e.out
	if out == "" {
		out = e.name
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := "rdmasim-" + e.name
	line("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\ndata:", name, jsonText(e.namespace))
	line("  plan: %s", blockText(string(e.text)))
	if scenario != "" {
		line("  scenario: %s", blockText(string(e.source.Text)))
	}
	line("---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %s\n  namespace: %s\nspec:", name, jsonText(e.namespace))
	line("  completions: %d # shards of %d runs\n  parallelism: %d\n  completionMode: Indexed", e.shards, e.units, e.shards)
	line("  backoffLimitPerIndex: 6\n  podFailurePolicy:\n    rules:\n    - action: FailIndex # bad input stays bad\n      onExitCodes: {operator: In, values: [%d]}", exitInput)
	line("  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: shard\n        image: %s", jsonText(e.image))
	command := fmt.Sprintf("exec %s sweep %s --out %s --shard $((JOB_COMPLETION_INDEX + 1))/%d --jobs %d --resume", shellQuote(e.program),
		shellQuote(podPlan+"/"+plan), shellQuote(podOut+"/"+filepath.ToSlash(out)), e.shards, e.jobs)
	line("        command: [sh, -c, %s]", jsonText(command))
	line("        resources:\n          requests: {cpu: %d}", e.jobs)
	line("        volumeMounts:\n        - {name: plan, mountPath: %s, readOnly: true}\n        - {name: out, mountPath: %s}", podPlan, podOut)
	line("      volumes:\n      - name: plan\n        configMap:\n          name: %s\n          items:\n          - {key: plan, path: %s}", name, jsonText(plan))
	if scenario != "" {
		line("          - {key: scenario, path: %s}", jsonText(scenario))
	}
	line("      - name: out\n        persistentVolumeClaim: {claimName: %s}", jsonText(e.claim))
	return b.String(), nil
}

// podFiles returns where plan and scenario stand below podPlan: as they stand
// to each other here, since the plan names the scenario relative to itself.
func (e *emission) podFiles() (plan, scenario string, err error) {
	if e.source.File == "" {
		return filepath.Base(e.plan), "", nil
	}
	if filepath.IsAbs(e.source.Name) {
		return "", "", fmt.Errorf("scenario: %s: k8s needs its path relative to the plan", e.source.Name)
	}
	file, err := filepath.Abs(e.source.File)
	if err != nil {
		return "", "", err
	}
	root := filepath.Dir(e.plan)
	for !strings.HasPrefix(file, root+string(filepath.Separator)) && root != filepath.Dir(root) {
		root = filepath.Dir(root)
	}
	plan, err1 := filepath.Rel(root, e.plan)
	scenario, err2 := filepath.Rel(root, file)
	return filepath.ToSlash(plan), filepath.ToSlash(scenario), errors.Join(err1, err2)
}

// jsonText quotes a text as JSON, which YAML reads too.
func jsonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(`\u` + strings.Repeat("0", 4-len(strconv.FormatInt(int64(r), 16))) + strconv.FormatInt(int64(r), 16))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// blockText writes a text so that it can be read where YAML can hold it line by
// line, else in quotes. It stands under a key that is indented by two blanks.
func blockText(s string) string {
	plain := strings.HasSuffix(s, "\n") && !strings.HasSuffix(s, "\n\n") && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\n")
	for _, r := range s {
		plain = plain && (r == '\n' || unicode.IsPrint(r))
	}
	if !plain {
		return jsonText(s)
	}
	var b strings.Builder
	b.WriteString("|")
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		b.WriteString("\n")
		if l != "" {
			b.WriteString("    " + l)
		}
	}
	return b.String()
}

// dnsLabel and dnsName report whether a word is what Kubernetes calls objects:
// RFC 1123, section 2.1, in lower case.
func dnsLabel(s string) bool { return len(s) <= 63 && !strings.Contains(s, ".") && dnsName(s) }

func dnsName(s string) bool {
	ends := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	if s == "" || len(s) > 253 || !ends(s[0]) || !ends(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !ends(s[i]) && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	return true
}
