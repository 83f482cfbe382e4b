package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	openAPIPath = "../../docs/schema/curator.v1.openapi.json"
	curatorPath = "discreet/curator/v1/curator.proto"
)

// object keeps members by name; encoding/json writes them in order of their names.
type object = map[string]any

// openAPI describes the unary calls of a protocol as they are made by JSON (the Connect
// protocol: https://connectrpc.com/docs/protocol), by OpenAPI 3.1. Calls that stream are
// not of plain JSON and are left out.
func openAPI(file protoreflect.FileDescriptor) object {
	schemas := object{"Error": object{
		"type": "object", "description": "What went wrong, and what to do.", "required": []string{"code"},
		"properties": object{
			"code":    object{"type": "string", "description": "A code of Connect, such as invalid_argument."},
			"message": object{"type": "string"},
			"details": object{"type": "array", "items": object{"type": "object"}},
		},
	}}
	paths := object{}
	for i := range file.Services().Len() {
		service := file.Services().Get(i)
		for j := range service.Methods().Len() {
			m := service.Methods().Get(j)
			if m.IsStreamingServer() || m.IsStreamingClient() {
				continue
			}
			paths[fmt.Sprintf("/%s/%s", service.FullName(), m.Name())] = object{"post": object{
				"operationId": fmt.Sprintf("%s_%s", service.Name(), m.Name()), "tags": []string{string(service.Name())},
				"description": comment(file, m),
				"requestBody": object{"required": true, "content": asJSON(reference(file, m.Input(), schemas))},
				"responses":   answers(reference(file, m.Output(), schemas)),
			}}
		}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "The curator's service", "version": "v1",
			"description": comment(file, file) + "\n\nMade from proto/" + file.Path() + ". Members that are zero, empty or false are left out of answers; members that are not listed here are passed over in requests.",
		},
		"paths": paths, "security": []any{object{"token": []string{}}},
		"components": object{"schemas": schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}
}

func asJSON(schema any) object { return object{"application/json": object{"schema": schema}} }

// answers are the statuses that a call may end with.
func answers(good any) object {
	wrong, plain := asJSON(ref("Error")), object{"text/plain": object{"schema": object{"type": "string"}}}
	both := object{"application/json": wrong["application/json"], "text/plain": plain["text/plain"]}
	return object{
		"200": object{"description": "Done.", "content": asJSON(good)},
		"400": object{"description": "The request is to be corrected, or cannot be met as things are.", "content": wrong},
		"401": object{"description": "No good token.", "content": plain},
		"403": object{"description": "The role does not allow it.", "content": wrong},
		"404": object{"description": "There is no such thing, or it is not the caller's.", "content": wrong},
		"409": object{"description": "The name or key stands for something else.", "content": wrong},
		"415": object{"description": "The request is of another type than application/json."},
		"429": object{"description": "The budget, or the caller's rate, does not cover it; or the request is too large.", "content": both},
		"503": object{"description": "The service cannot answer now; the same call may be made again.", "content": wrong},
	}
}

func ref(name protoreflect.Name) object {
	return object{"$ref": "#/components/schemas/" + string(name)}
}

// reference refers to a message or an enumeration, and describes it in schemas.
func reference(file protoreflect.FileDescriptor, d protoreflect.Descriptor, schemas object) object {
	if _, known := schemas[string(d.Name())]; known {
		return ref(d.Name())
	}
	schemas[string(d.Name())] = nil // a message may hold itself
	switch d := d.(type) {
	case protoreflect.EnumDescriptor:
		var names []string
		for i := range d.Values().Len() {
			names = append(names, string(d.Values().Get(i).Name()))
		}
		schemas[string(d.Name())] = object{"type": "string", "enum": names, "description": comment(file, d)}
	case protoreflect.MessageDescriptor:
		members := object{}
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			one := member(file, f, schemas)
			if f.IsList() {
				one = object{"type": "array", "items": one}
			}
			if text := comment(file, f); text != "" {
				one["description"] = text
			}
			members[f.JSONName()] = one
		}
		schemas[string(d.Name())] = object{"type": "object", "properties": members, "description": comment(file, d)}
	}
	return ref(d.Name())
}

// member is one value, by the JSON mapping of protocol buffers.
func member(file protoreflect.FileDescriptor, f protoreflect.FieldDescriptor, schemas object) object {
	switch f.Kind() {
	case protoreflect.StringKind:
		return object{"type": "string"}
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.DoubleKind:
		return object{"oneOf": []any{object{"type": "number", "format": "double"}, object{"type": "string", "enum": []string{"NaN", "Infinity", "-Infinity"}}}}
	case protoreflect.Int32Kind:
		return object{"type": "integer", "format": "int32", "minimum": -1 << 31, "maximum": 1<<31 - 1}
	case protoreflect.Int64Kind:
		return object{"type": "string", "format": "int64", "pattern": "^-?[0-9]+$"}
	case protoreflect.BytesKind:
		return object{"type": "string", "format": "byte", "contentEncoding": "base64"}
	case protoreflect.EnumKind:
		return reference(file, f.Enum(), schemas)
	case protoreflect.MessageKind:
		if f.Message().FullName() == "google.protobuf.Timestamp" {
			return object{"type": "string", "format": "date-time"}
		}
		return reference(file, f.Message(), schemas)
	default:
		panic(fmt.Sprintf("%s is a %s, which has no description here", f.FullName(), f.Kind()))
	}
}

// comment is what the text of the protocol says of something.
func comment(file protoreflect.FileDescriptor, d protoreflect.Descriptor) string {
	at := file.SourceLocations().ByDescriptor(d)
	if d == file {
		at = file.SourceLocations().ByPath(protoreflect.SourcePath{2}) // package
	}
	return strings.Join(strings.Fields(at.LeadingComments), " ")
}

func TestTheOpenAPIDescriptionIsThatOfTheText(t *testing.T) {
	for _, file := range compiled(t) {
		if file.Path() != curatorPath {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(openAPI(file)); err != nil {
			t.Fatal(err)
		}
		if *regenerate {
			if err := os.WriteFile(openAPIPath, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(openAPIPath); err != nil || !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%s is not that of %s (%v); run go test ./internal/protocol -run OpenAPI -regenerate", openAPIPath, curatorPath, err)
		}
	}
}

// Every call that is answered once, and no other, is described.
func TestTheOpenAPIDescriptionHasEveryUnaryCall(t *testing.T) {
	if *regenerate {
		return // the list of calls is not written yet
	}
	text, err := os.ReadFile(openAPIPath)
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile(wirePath)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for line := range strings.Lines(string(known)) {
		name, found := strings.CutPrefix(line, "call discreet.curator.v1.")
		if !found {
			continue
		}
		name, _, _ = strings.Cut(name, " ")
		path := "/discreet.curator.v1." + strings.Replace(name, ".", "/", 1)
		_, listed := described.Paths[path]["post"]
		if streams := strings.HasSuffix(name, ".WatchAsk"); listed == streams {
			t.Errorf("%s: listed is %v", path, listed)
		} else if listed {
			calls++
		}
	}
	if calls != len(described.Paths) || calls == 0 {
		t.Errorf("%d calls, %d paths", calls, len(described.Paths))
	}
}
