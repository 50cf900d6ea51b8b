// Command informer watches one kind of object through client-go's informers and prints, line by line, what it sees.
//
//	informer KUBECONFIG GROUP VERSION RESOURCE NAMESPACE
//
// It prints "synced", then "add NAME", "update NAME VERSION" and "delete NAME", until its standard input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: informer KUBECONFIG GROUP VERSION RESOURCE NAMESPACE")
		os.Exit(2)
	}
	if err := follow(os.Args[1], resource(os.Args[2:5]), os.Args[5]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func resource(words []string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: words[0], Version: words[1], Resource: words[2]}
}

func follow(kubeconfig string, of schema.GroupVersionResource, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 10*time.Minute, namespace, nil)
	informer := factory.ForResource(of).Informer()
	if _, err := informer.AddEventHandler(printer()); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the cache of %s never synced", of)
	}
	fmt.Println("synced")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func printer() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { fmt.Println("add", named(object).GetName()) },
		UpdateFunc: func(_, object any) { fmt.Println("update", named(object).GetName(), named(object).GetResourceVersion()) },
		DeleteFunc: func(object any) { fmt.Println("delete", named(object).GetName()) },
	}
}

func named(object any) metav1.Object {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	return object.(metav1.Object)
}
