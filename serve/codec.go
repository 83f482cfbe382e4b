package serve

import (
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// strictJSON is connect's codec of JSON, which ignores fields that a call does not know;
// here they are refused, as unknown keys of a question are: a field with a wrong name
// may be a bound that its sender believes to hold.
type strictJSON struct{ name string }

// refusesUnknown has calls in JSON read strictly, under both names that the codec has.
func refusesUnknown() connect.HandlerOption {
	return connect.WithHandlerOptions(connect.WithCodec(strictJSON{"json"}), connect.WithCodec(strictJSON{"json; charset=utf-8"}))
}

// Name implements [connect.Codec].
func (c strictJSON) Name() string { return c.name }

// Marshal implements [connect.Codec].
func (strictJSON) Marshal(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", message)
	}
	return protojson.Marshal(m)
}

// Unmarshal implements [connect.Codec].
func (strictJSON) Unmarshal(text []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", message)
	}
	err := protojson.Unmarshal(text, m)
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "unknown field") {
		return fmt.Errorf("%.300s; remove it or correct its name", err.Error())
	}
	return err
}
