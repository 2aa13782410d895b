import { randomUUID } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'
import { isDocument } from './graphql-document.ts'

/** A report of usage, as Hive's specification of version 2 describes it. */
interface Report {
  readonly size: number
  readonly map: Readonly<Record<string, { readonly operation: string; readonly operationName?: string | null; readonly fields: readonly string[] }>>
  readonly operations?: readonly Entry[]
  readonly subscriptionOperations?: readonly Entry[]
}

interface Entry {
  readonly operationMapKey: string
  readonly timestamp: number
  readonly execution?: { readonly ok: boolean; readonly duration: number; readonly errorsTotal: number }
  readonly metadata?: { readonly client?: { readonly name?: string; readonly version?: string } }
}

/** Stand-in for Hive's usage endpoint: it records reports that its specification allows (https://the-guild.dev/graphql/hive/docs/specs/usage-reports). */
export const hive: Vendor = {
  title: 'Hive, which collects usage',
  play(name, { state, faults, clock }): Network {
    const received = state.collection<object>(name, 200)
    return {
      name,
      takes: { mostBytes: 4 * 1024 * 1024 },
      received: () => [...received.values()],
      answer(call) {
        const target = /^\/usage\/([\w./-]{1,200})$/.exec(call.path)?.[1]
        if (target === undefined || call.method !== 'POST') return refuse(404, 'Not found.')
        if (!/^Bearer \S+$/.test(String(call.headers.authorization ?? ''))) return refuse(401, 'The access token is missing.')
        if (call.headers['x-usage-api-version'] !== '2') return refuse(400, 'x-usage-api-version is not 2.')
        const report = readReport(textOf(call))
        if (typeof report === 'string') return refuse(400, report)
        return spoilt(faults, name, {
          refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'),
          take() {
            received.set(randomUUID(), { receivedAt: clock.now().toISOString(), target, report })
            return json(200, { id: randomUUID(), operations: { accepted: report.size, rejected: 0 } }, 'accepted')
          },
        })
      },
    }
  },
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { errors: [{ message: error }] }, 'refused'), reason: error })

/** @returns the report, or a sentence that says what is wrong with it */
function readReport(text: string): Report | string {
  let report: Report
  try {
    report = JSON.parse(text)
  } catch {
    return 'The body is no JSON.'
  }
  const { size, map, operations = [], subscriptionOperations = [] } = report
  if (typeof map !== 'object' || map === null) return 'map is missing.'
  for (const [key, { operation, operationName, fields }] of Object.entries(map)) {
    if (typeof operation !== 'string' || !isDocument(operation)) return `map.${key}.operation is no GraphQL document.`
    if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') return `map.${key}.operationName is no text.`
    if (!Array.isArray(fields) || !fields.every(field => typeof field === 'string' && /^\w+(?:\.\w+){0,2}$/.test(field)))
      return `map.${key}.fields are no schema coordinates of Hive.`
  }
  if (!Array.isArray(operations) || !Array.isArray(subscriptionOperations)) return 'operations are no list.'
  if (size !== operations.length + subscriptionOperations.length) return 'size is not the number of operations.'
  for (const entry of operations) {
    const { execution } = entry
    const isWhole = execution && typeof execution.ok === 'boolean' && Number.isInteger(execution.duration) && Number.isInteger(execution.errorsTotal)
    if (!isWhole) return 'execution needs ok, duration in nanoseconds and errorsTotal.'
  }
  for (const { operationMapKey, timestamp, metadata } of [...operations, ...subscriptionOperations]) {
    if (!Object.hasOwn(map, operationMapKey)) return `operationMapKey ${operationMapKey} is not in map.`
    if (!Number.isInteger(timestamp) || timestamp < 1e12) return 'timestamp is no number of milliseconds since 1970.'
    const { name, version } = metadata?.client ?? {}
    if ((name !== undefined && typeof name !== 'string') || (version !== undefined && (typeof version !== 'string' || name === undefined)))
      return 'metadata.client has a name, and a version only with one.'
  }
  return report
}
