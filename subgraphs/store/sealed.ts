/** A column of encrypted values; null where a row has none. */
export interface SealedColumn {
  /** Name with schema: `publishing.connections`. */
  readonly table: string
  /** The column that identifies a row, and so the value's context. */
  readonly key: string
  readonly column: string
  /** Maximum number of values read at once, where they are large. */
  readonly batch?: number
  /** Returns the context that a value is bound to by the cipher. */
  about(key: string): string
}
