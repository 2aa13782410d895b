import type { ModelVendor } from '../../engines/third-party/catalogue.ts'
import type { SourceKind, SourceRow, SourceThen } from '../../stores/model/sync.ts'

/** Model sources by name. */
export const sourceKinds = {
  openai: 'PROVIDER_API',
  anthropic: 'PROVIDER_API',
  google: 'PROVIDER_API',
  'models-dev': 'OPEN_CATALOG',
} as const satisfies Readonly<Record<ModelVendor | 'models-dev', SourceKind>>

export type SourceName = keyof typeof sourceKinds

export const sourceNames = Object.keys(sourceKinds) as readonly SourceName[]

/** Returns every source, also unread ones. */
export const shownSources = (rows: readonly SourceRow[]) =>
  sourceNames.map(name => {
    const { id: _, ...row } = rows.find(each => each.name === name) ?? {
      id: '',
      name,
      kind: sourceKinds[name],
      status: 'NEVER' as const,
      lastAttemptAt: null,
      lastSuccessAt: null,
      failure: null,
      models: 0,
    }
    return row
  })

/** Returns the sources as stored with a run. */
export const sourcesThen = (rows: readonly SourceRow[]): readonly SourceThen[] =>
  shownSources(rows).map(row => ({ ...row, lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null, lastSuccessAt: row.lastSuccessAt?.toISOString() ?? null }))

const moment = (text: string | null): Date | null => (text === null ? null : new Date(text))

export const sourcesOf = (then: readonly SourceThen[]) =>
  then.map(each => ({ ...each, lastAttemptAt: moment(each.lastAttemptAt), lastSuccessAt: moment(each.lastSuccessAt) }))
