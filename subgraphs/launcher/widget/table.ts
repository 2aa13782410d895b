import type { Payload } from './sources.ts'

/** A widget as resolvers hand it on; without `payload` the field asks the service. Widgets have no table: their services keep what they show. */
export interface WidgetRow {
  readonly id: string
  readonly app: string
  readonly title: string
  readonly payload?: Payload | null
}
