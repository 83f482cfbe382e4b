package protocol

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

var regenerate = flag.Bool("regenerate", false, "write the generated code and testdata/wire.txt")

const wirePath = "testdata/wire.txt"

// protocols are the texts and the descriptors of their generated code.
var protocols = map[string]protoreflect.FileDescriptor{
	"discreet/curator/v1/curator.proto": curatorv1.File_discreet_curator_v1_curator_proto,
	"discreet/fleet/v1/fleet.proto":     fleetv1.File_discreet_fleet_v1_fleet_proto,
}

// compiled reads the protocols from their texts, in order of their names.
func compiled(t *testing.T) []protoreflect.FileDescriptor {
	t.Helper()
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"../../proto"}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), slices.Sorted(maps.Keys(protocols))...)
	if err != nil {
		t.Fatal(err)
	}
	var out []protoreflect.FileDescriptor
	for _, f := range files {
		out = append(out, f)
	}
	return out
}

func TestTheCodeHoldsTheDescriptorOfTheText(t *testing.T) {
	for _, file := range compiled(t) {
		want := protodesc.ToFileDescriptorProto(file)
		want.SourceCodeInfo = nil
		got := protodesc.ToFileDescriptorProto(protocols[file.Path()])
		for _, f := range []*descriptorpb.FileDescriptorProto{want, got} {
			clearNames(f.GetMessageType())
		}
		if !proto.Equal(got, want) && !*regenerate {
			t.Errorf("the generated code is not that of %s; run go test -tags slow ./internal/protocol -regenerate", file.Path())
		}
	}
}

// clearNames drops names that follow from others.
func clearNames(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, f := range m.GetField() {
			f.JsonName = nil
		}
		clearNames(m.GetNestedType())
	}
}

// wire lists what two sides of a connection have to agree on, a line each.
func wire(files []protoreflect.FileDescriptor) []string {
	var out []string
	for _, file := range files {
		out = append(out, wireOf(file)...)
	}
	slices.Sort(out)
	return out
}

func wireOf(file protoreflect.FileDescriptor) []string {
	var out []string
	var messages func(protoreflect.MessageDescriptors)
	messages = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			m := all.Get(i)
			for j := range m.Fields().Len() {
				f := m.Fields().Get(j)
				kind := f.Kind().String()
				if d := f.Message(); d != nil {
					kind = string(d.FullName())
				}
				if d := f.Enum(); d != nil {
					kind = string(d.FullName())
				}
				out = append(out, fmt.Sprintf("field %s = %d %s %s", f.FullName(), f.Number(), f.Cardinality(), kind))
			}
			messages(m.Messages())
		}
	}
	messages(file.Messages())
	for i := range file.Enums().Len() {
		values := file.Enums().Get(i).Values()
		for j := range values.Len() {
			out = append(out, fmt.Sprintf("value %s.%s = %d", file.Enums().Get(i).FullName(), values.Get(j).Name(), values.Get(j).Number()))
		}
	}
	for i := range file.Services().Len() {
		methods := file.Services().Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			out = append(out, fmt.Sprintf("call %s (%s) (%s)", m.FullName(), m.Input().FullName(), m.Output().FullName()))
		}
	}
	return out
}

// broken lists what was known and is no more, or is something else now.
func broken(known, now []string) []string {
	var out []string
	for _, line := range known {
		if !slices.Contains(now, line) {
			out = append(out, line)
		}
	}
	return out
}

func TestWhatWentOverTheWireIsKept(t *testing.T) {
	text, err := os.ReadFile(wirePath)
	if err != nil && !*regenerate {
		t.Fatal(err)
	}
	known, now := strings.Fields(strings.ReplaceAll(string(text), " ", "\x00")), wire(compiled(t))
	for i := range known {
		known[i] = strings.ReplaceAll(known[i], "\x00", " ")
	}
	for _, line := range broken(known, now) {
		t.Errorf("broken: %s; give what is new a number and a name of its own", line)
	}
	if t.Failed() {
		return
	}
	if *regenerate {
		if err := os.WriteFile(wirePath, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range broken(now, known) {
		t.Errorf("new, and not listed: %s; run go test -tags slow ./internal/protocol -regenerate", line)
	}
}

func TestAChangeOfTypeIsABreak(t *testing.T) {
	known := []string{"field a.B.c = 1 optional bytes", "field a.B.d = 2 optional bytes"}
	now := []string{"field a.B.c = 1 optional string", "field a.B.d = 2 optional bytes", "field a.B.e = 3 optional bytes"}
	if got := broken(known, now); !slices.Equal(got, known[:1]) {
		t.Errorf("broken are %q", got)
	}
}
