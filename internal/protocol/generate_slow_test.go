//go:build slow

package protocol

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/bufbuild/protocompile/protoutil"
)

func TestTheGeneratedFilesAreWhatThePluginsMake(t *testing.T) {
	for _, file := range compiled(t) {
		t.Run(file.Path(), func(t *testing.T) { generate(t, file) })
	}
}

// withImports are the descriptors of a file's imports, and its own last.
func withImports(file protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	var out []*descriptorpb.FileDescriptorProto
	for i := range file.Imports().Len() {
		out = append(out, withImports(file.Imports().Get(i).FileDescriptor)...)
	}
	return append(out, protoutil.ProtoFromFileDescriptor(file))
}

func generate(t *testing.T, file protoreflect.FileDescriptor) {
	for plugin, options := range map[string]string{
		"protoc-gen-go":         "module=github.com/discreet-rl/discreet",
		"protoc-gen-connect-go": "module=github.com/discreet-rl/discreet,package_suffix,simple",
	} {
		request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
			FileToGenerate: []string{file.Path()}, Parameter: proto.String(options),
			ProtoFile: withImports(file),
		})
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		c := exec.CommandContext(t.Context(), "go", "tool", plugin)
		c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(request), &stdout, &stderr
		if err := c.Run(); err != nil {
			t.Fatalf("%s: %v: %s", plugin, err, &stderr)
		}
		var answer pluginpb.CodeGeneratorResponse
		if err := proto.Unmarshal(stdout.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Error != nil || len(answer.GetFile()) == 0 {
			t.Fatalf("%s: %s", plugin, answer.GetError())
		}
		for _, f := range answer.GetFile() {
			path := filepath.Join("../..", filepath.FromSlash(f.GetName()))
			if *regenerate {
				if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != f.GetContent() {
				t.Errorf("%s is not what %s makes of %s (%v); run go test -tags slow ./internal/protocol -regenerate",
					strings.TrimPrefix(path, "../../"), plugin, file.Path(), err)
			}
		}
	}
}
