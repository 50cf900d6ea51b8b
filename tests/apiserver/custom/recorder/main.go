package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type in struct {
	New json.RawMessage
	Old json.RawMessage
}
type out struct {
	Decode   string
	Errors   [][3]string
	Warnings []string
	Panic    string
}

var scheme = runtime.NewScheme()

func load(raw []byte) (*apiextensions.CustomResourceDefinition, error) {
	var crd v1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &crd); err != nil {
		return nil, err
	}
	scheme.Default(&crd)
	var o apiextensions.CustomResourceDefinition
	if err := scheme.Convert(&crd, &o, nil); err != nil {
		return nil, err
	}
	return &o, nil
}

func run(i in) (o out) {
	defer func() {
		if r := recover(); r != nil {
			o.Panic = fmt.Sprint(r)
		}
	}()
	n, err := load(i.New)
	if err != nil {
		o.Decode = err.Error()
		return
	}
	s := customresourcedefinition.NewStrategy(scheme)
	ctx := context.Background()
	var errs field.ErrorList
	if len(i.Old) > 4 {
		old, err := load(i.Old)
		if err != nil {
			o.Decode = err.Error()
			return
		}
		s.PrepareForUpdate(ctx, n, old)
		errs = s.ValidateUpdate(ctx, n, old)
		o.Warnings = s.WarningsOnUpdate(ctx, n, old)
	} else {
		s.PrepareForCreate(ctx, n)
		errs = s.Validate(ctx, n)
		o.Warnings = s.WarningsOnCreate(ctx, n)
	}
	for _, e := range errs {
		o.Errors = append(o.Errors, [3]string{string(e.Type), e.Field, e.ErrorBody()})
	}
	return
}

func main() {
	install.Install(scheme)
	sc := bufio.NewScanner(os.Stdin)
	sc.Buffer(make([]byte, 1<<20), 1<<28)
	w := json.NewEncoder(os.Stdout)
	for sc.Scan() {
		var i in
		if err := json.Unmarshal(sc.Bytes(), &i); err != nil {
			panic(err)
		}
		w.Encode(run(i))
	}
}
