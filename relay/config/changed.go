package config

import "reflect"

// Changed lists the keys whose values differ, in the order of the table.
func Changed(a, b Config) []string {
	keys := []string{}
	for _, s := range settings {
		before, after := reflect.ValueOf(s.field(&a)).Elem(), reflect.ValueOf(s.field(&b)).Elem()
		if before.Kind() == reflect.Slice && before.Len() == 0 && after.Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(before.Interface(), after.Interface()) {
			keys = append(keys, s.key)
		}
	}
	return keys
}
