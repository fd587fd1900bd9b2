package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const mergePatch = types.MergePatchType

func dryRun() metav1.DeleteOptions { return metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}} }

func createOptions(dryRun []string) metav1.CreateOptions { return metav1.CreateOptions{DryRun: dryRun} }

func deleteOptions() metav1.DeleteOptions { return metav1.DeleteOptions{} }

func patchOptions() metav1.PatchOptions { return metav1.PatchOptions{} }

func getOptions() metav1.GetOptions { return metav1.GetOptions{} }
