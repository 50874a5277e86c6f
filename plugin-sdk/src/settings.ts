/** One thing a person can set for a plugin: `tabrelay plugin configure NAME KEY=VALUE`. */
export interface Setting {
  /**
   * `url`: the address of an installation; its pages become the plugin's. Several by name are several instances, and
   * a handler sees the one its tab belongs to. `select`: one of `options`.
   */
  readonly type: 'url' | 'string' | 'number' | 'boolean' | 'select';
  /** For people. */
  readonly label?: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** Without it the plugin is listed with a problem. Default false. */
  readonly required?: boolean;
  /** What it is when the person set nothing. */
  readonly default?: string | number | boolean;
  readonly options?: readonly string[];
  /** It never goes into a page that ran scripts before the plugin came. Default: true for a string. */
  readonly secret?: boolean;
}

/** What a person can set, by key. */
export type Settings = Readonly<Record<string, Setting>>;
