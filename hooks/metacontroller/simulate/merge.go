package simulate

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Merge is the three-way merge of Metacontroller's default strategy,
// "dynamic-apply". It takes from observed what was last applied and is not desired
// any more, sets what is desired, and gives the result; nobody's other fields are
// touched. The arguments are not changed. All three hold JSON values as
// apimachinery decodes them, so integers are int64.
//
// A list of objects is merged by the first of mergeKeys that every item of all
// three lists has; every other list is replaced. A key is no schema: two ports of
// one number, one TCP and one UDP, are one item to it.
func Merge(observed, lastApplied, desired map[string]any) (map[string]any, error) {
	result := runtime.DeepCopyJSON(observed)
	if result == nil {
		result = map[string]any{}
	}
	if err := mergeFields("", result, lastApplied, runtime.DeepCopyJSON(desired)); err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	return result, nil
}

// mergeKeys are the names that Metacontroller guesses list keys by, best first.
func mergeKeys() []string {
	return []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}
}

// mergeValue gives what becomes of one field that is desired. The observed value
// decides how: an object or a list that shall become something else is an error.
func mergeValue(path string, observed, lastApplied, desired any) (any, error) {
	switch have := observed.(type) {
	case map[string]any:
		last, err := as[map[string]any]("last applied", path, lastApplied)
		if err != nil {
			return nil, err
		}
		want, err := as[map[string]any]("desired", path, desired)
		if err != nil {
			return nil, err
		}
		return have, mergeFields(path, have, last, want)
	case []any:
		last, err := as[[]any]("last applied", path, lastApplied)
		if err != nil {
			return nil, err
		}
		want, err := as[[]any]("desired", path, desired)
		if err != nil {
			return nil, err
		}
		return mergeList(path, have, last, want)
	default:
		return desired, nil
	}
}

// as gives the value as a T; nil counts as an empty one.
func as[T any](role, path string, value any) (T, error) {
	typed, ok := value.(T)
	if !ok && value != nil {
		return typed, fmt.Errorf("%s value of %s is a %T and not a %T as the observed one", role, path, value, typed)
	}
	return typed, nil
}

func mergeFields(path string, result, lastApplied, desired map[string]any) error {
	for key := range lastApplied {
		if _, wanted := desired[key]; !wanted {
			delete(result, key)
		}
	}
	// Sorted, so that of several errors it is always the same one.
	for _, key := range slices.Sorted(maps.Keys(desired)) {
		merged, err := mergeValue(path+"."+key, result[key], lastApplied[key], desired[key])
		if err != nil {
			return err
		}
		result[key] = merged
	}
	return nil
}

func mergeList(path string, observed, lastApplied, desired []any) (any, error) {
	key := mergeKey(observed, lastApplied, desired)
	if key == "" {
		if desired == nil {
			return nil, nil
		}
		return desired, nil
	}
	items := byKey(key, observed)
	if err := mergeFields(path, items, byKey(key, lastApplied), byKey(key, desired)); err != nil {
		return nil, err
	}
	return inOrder(key, items, observed, desired), nil
}

// inOrder makes a list of the items again: the observed order, then new ones.
// Observed items that share a key come out as often as they were, but all equal:
// that is how 53/TCP and 53/UDP of one Service become twice the same port.
func inOrder(key string, items map[string]any, observed, desired []any) []any {
	list := make([]any, 0, len(items))
	done := map[string]bool{}
	for _, item := range observed {
		name := keyOf(key, item)
		if merged, kept := items[name]; kept {
			list = append(list, merged)
			done[name] = true
		}
	}
	for _, item := range desired {
		name := keyOf(key, item)
		if !done[name] {
			list = append(list, items[name])
			done[name] = true
		}
	}
	return list
}

// mergeKey guesses the key of a list, or gives "" where it is to be replaced.
func mergeKey(lists ...[]any) string {
	all := slices.Concat(lists...)
	if len(all) == 0 {
		return ""
	}
	for _, key := range mergeKeys() {
		if !slices.ContainsFunc(all, func(item any) bool { return !hasKey(key, item) }) {
			return key
		}
	}
	return ""
}

func hasKey(key string, item any) bool {
	fields, isObject := item.(map[string]any)
	if !isObject {
		return false
	}
	_, has := fields[key]
	return has
}

func keyOf(key string, item any) string {
	fields, _ := item.(map[string]any)
	return fmt.Sprint(fields[key])
}

// byKey indexes the items; of several with one key the last counts.
func byKey(key string, list []any) map[string]any {
	items := make(map[string]any, len(list))
	for _, item := range list {
		items[keyOf(key, item)] = item
	}
	return items
}
