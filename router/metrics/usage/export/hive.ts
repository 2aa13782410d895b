import { isSubscription, type Observed, type ObservedOperation } from './observed.ts'
import type { Collector, Report } from './sending.ts'

export interface HiveOptions {
  /** `<organization>/<project>/<target>`, or the id of a target. */
  readonly target: string
  readonly token: string
  /** Address of the usage endpoint, without the target. */
  readonly endpoint: string
}

/** A client as Hive knows it; without a name it has none. */
const clientOf = ({ client: { name, version } }: Observed) =>
  name === 'unknown' ? {} : { metadata: { client: { name, ...(version !== 'unknown' && { version }) } } }

/** Returns a coordinate in Hive's form: `Type.field.argument` for an argument. */
const inHivesForm = (coordinate: string): string => coordinate.replace(/\((\w+):\)$/, '.$1')

/** Fields that an operation uses, each with its type. */
const fieldsOf = ({ coordinates }: ObservedOperation): string[] => [
  ...new Set(coordinates.flatMap(coordinate => [coordinate.split('.')[0]!, inHivesForm(coordinate)])),
]

/** Collects operations for Hive (https://the-guild.dev/graphql/hive/docs/specs/usage-reports): each execution is an entry, and each operation stands once. */
export function collectForHive({ target, token, endpoint }: HiveOptions): Collector {
  let taken: Observed[] = []
  return {
    name: 'hive',
    add: observed => void taken.push(observed),
    get size() {
      return taken.length
    },
    async take(): Promise<Report | null> {
      if (taken.length === 0) return null
      const observed = taken
      taken = []
      const distinct = new Map(observed.map(({ operation }) => [operation.key, operation]))
      const map = Object.fromEntries(
        [...distinct].map(([key, operation]) => [key, { operation: operation.text, operationName: operation.name, fields: fieldsOf(operation) }]),
      )
      const entries = (isStream: boolean) => observed.filter(({ operation }) => isSubscription(operation) === isStream)
      const operations = entries(false).map(each => ({
        operationMapKey: each.operation.key,
        timestamp: each.at,
        // Nanoseconds.
        execution: { ok: each.errors === 0, duration: Math.round(each.ms * 1e6), errorsTotal: each.errors },
        ...clientOf(each),
      }))
      const subscriptionOperations = entries(true).map(each => ({ operationMapKey: each.operation.key, timestamp: each.at, ...clientOf(each) }))
      return {
        url: `${endpoint}/${target}`,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-usage-api-version': '2' },
        body: JSON.stringify({
          size: observed.length,
          map,
          ...(operations.length > 0 && { operations }),
          ...(subscriptionOperations.length > 0 && { subscriptionOperations }),
        }),
      }
    },
  }
}
