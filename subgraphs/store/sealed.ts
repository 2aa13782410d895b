/** A column of values that the cipher has sealed, one of each row; null where a row has none. */
export interface SealedColumn {
  /** `publishing.connections` */
  readonly table: string
  /** The column that names a row, and by which the place of its value is known. */
  readonly key: string
  readonly column: string
  /** How many values may be read at once, where they are large. */
  readonly batch?: number
  /** The place that a value is bound to: what it was sealed about. */
  about(key: string): string
}
