package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Words is what an error says to a user: with nothing in it that would steer a
// terminal, and, of JSON of the wrong form, without the types of a program.
func Words(err error) string {
	text := err.Error()
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		text = strings.ReplaceAll(text, wrong.Error(), mistyped(wrong))
	}
	return Printable(text)
}

func mistyped(e *json.UnmarshalTypeError) string {
	wanted := "a number"
	switch e.Type.Kind() {
	case reflect.String:
		wanted = "text"
	case reflect.Bool:
		wanted = "true or false"
	case reflect.Slice, reflect.Array:
		wanted = "a list"
	case reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
		wanted = "an object"
	}
	what, _, _ := strings.Cut(e.Value, " ") // the rest is the value itself
	if e.Field == "" {
		return fmt.Sprintf("JSON of type %s; want %s", what, wanted)
	}
	return fmt.Sprintf("the member %q is of type %s; want %s", e.Field, what, wanted)
}
