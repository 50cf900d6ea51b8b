// Command builtin_kinds writes the structure of the kinds that Kubernetes itself serves, as Go declares them:
// type names, JSON field names, Go types. No texts. The result is src/crossply/schema/builtin_kinds.json.
//
//	go run . > ../../src/crossply/schema/builtin_kinds.json
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

var unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()

// table collects every type that is reachable from a kind. A type is referred to by its name with its package;
// packages of the same name (v1) are told apart by a number that follows '#'.
type table struct {
	names map[reflect.Type]string
	count map[string]int
	types map[string]any
}

func (t *table) name(typ reflect.Type) string {
	if name, ok := t.names[typ]; ok {
		return name
	}
	name := typ.String()
	n := t.count[name]
	t.count[name] = n + 1
	if n > 0 {
		name += "#" + strings.Repeat("#", n-1)
	}
	t.names[typ] = name
	if reflect.PointerTo(typ).Implements(unmarshaler) {
		t.types[name] = "unmarshaler"
		return name
	}
	fields := map[string]string{}
	t.types[name] = fields
	t.fields(typ, "", fields)
	return name
}

// fields collects the fields of a struct. A field that comes from an embedded struct is written
// "Embedded>T", since Go names the embedded struct in its errors.
func (t *table) fields(typ reflect.Type, embedded string, into map[string]string) {
	for i := 0; i < typ.NumField(); i++ {
		field := typ.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !field.IsExported():
		case tag == "" && (field.Anonymous || options == "inline"):
			t.fields(field.Type, strings.TrimPrefix(embedded+"."+field.Name, "."), into)
		case tag == "":
			into[field.Name] = within(embedded) + t.ref(field.Type)
		default:
			into[tag] = within(embedded) + t.ref(field.Type)
		}
	}
}

func within(embedded string) string {
	if embedded == "" || embedded == "TypeMeta" {
		return ""
	}
	return embedded + ">"
}

// named writes the name of a list or map type that has one.
func named(typ reflect.Type) string {
	if typ.Name() == "" {
		return ""
	}
	return typ.String() + "="
}

// ref writes a type: "[]T" and "{}T" are lists and maps ("name=[]T" if they are named), ":string" follows the
// name of a named scalar.
func (t *table) ref(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Pointer:
		return t.ref(typ.Elem())
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return named(typ) + "[]" + t.ref(typ.Elem())
	case reflect.Map:
		return named(typ) + "{}" + t.ref(typ.Elem())
	case reflect.Struct:
		return t.name(typ)
	case reflect.Interface:
		return "any"
	}
	if typ.PkgPath() != "" {
		return typ.String() + ":" + typ.Kind().String()
	}
	return typ.Kind().String()
}

func main() {
	t := &table{names: map[reflect.Type]string{}, count: map[string]int{}, types: map[string]any{}}
	kinds := map[string]string{}
	known := scheme.Scheme.AllKnownTypes()
	order := make([]string, 0, len(known))
	byName := map[string]reflect.Type{}
	for gvk, typ := range known {
		if gvk.Version == "__internal" || strings.HasSuffix(gvk.Kind, "Options") || gvk.Kind == "WatchEvent" {
			continue
		}
		key := gvk.GroupVersion().String() + " " + gvk.Kind
		order = append(order, key)
		byName[key] = typ
	}
	sort.Strings(order)
	for _, key := range order {
		kinds[key] = t.name(byName[key])
	}
	t.name(reflect.TypeOf(extv1.CustomResourceDefinition{}))
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"kinds": kinds, "types": t.types}); err != nil {
		panic(err)
	}
}
