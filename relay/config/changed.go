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

// Values are the settings that differ from their defaults, by key, without those of plugins.
func Values(c Config) map[string]any {
	values := map[string]any{}
	for _, key := range Changed(Default(), c) {
		for _, s := range settings {
			if s.key == key && key != "plugins" {
				values[key] = reflect.ValueOf(s.field(&c)).Elem().Interface()
			}
		}
	}
	return values
}
