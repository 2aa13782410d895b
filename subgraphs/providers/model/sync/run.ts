import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { idOfName } from '../../../../platform/ids.ts'
import { write } from '../../../store/write.ts'
import type { Context, Job } from '../../context.ts'
import type { NewModel } from '../../stores/model/model.ts'
import type { ModelSyncRow, ModelSyncs } from '../../stores/model/sync.ts'
import { tellWarnings } from '../warnings.ts'
import { type SourceName, sourceNames, sourcesThen } from './shown.ts'
import { type Asked, askSource, type SourceDeps } from './sources.ts'

/** Time in ms after which another run takes over: longer than any source takes. */
const runMs = 90_000
/** Interval in ms at which a run of another process is checked. */
const lookMs = 150
/** Maximum age in ms of the sources' answers. */
const everyMs = 6 * 3_600_000
/** Time in ms after which candidates that no source lists are deleted. */
const keptMs = 30 * 24 * 3_600_000

/** Namespace of the sources' ids. */
const sourcesSpace = '00000000-0000-7000-8000-000000000001'

/** Merges the sources' models: the later source of the list takes precedence, and the open catalogue is the last. */
function togetherOf(asked: readonly Asked[]): readonly NewModel[] {
  const byName = new Map<string, NewModel>()
  for (const { models } of asked) for (const model of models ?? []) byName.set(model.name, { ...byName.get(model.name), ...model })
  return [...byName.values()]
}

export interface SyncDeps extends SourceDeps {
  readonly job: () => Job
  readonly clock: Clock
  readonly log: Logger
}

/** Reads the model sources: one run at a time over all processes, and concurrent callers get its result. */
export function createModelSyncs({ job, clock, log, ...deps }: SyncDeps): ModelSyncs & {
  /** Runs when the process starts, and whenever the last run is six hours old. */
  runWhenDue(): Promise<void>
} {
  let hasStarted = false

  async function run(names: readonly SourceName[], context: Context | Job, tenantId: string | null): Promise<ModelSyncRow> {
    const { modelSyncs } = job()
    const began = clock.now()
    const id = await modelSyncs.begin(began, new Date(began.getTime() + runMs))
    if (id === null) return joinRun()
    const asked = await Promise.all(names.map(name => askSource(deps, name, clock.now())))
    for (const { attempted } of asked)
      if (attempted.failure !== null && attempted.wasAsked) log.warn({ source: attempted.name, failure: attempted.failure }, 'model source failed')
    await keep(context, id, asked, tenantId)
    return (await modelSyncs.runOf(id))!
  }

  /** Stores the sources' answers and ends the run, atomically. */
  async function keep(context: Context | Job, id: string, asked: readonly Asked[], tenantId: string | null): Promise<void> {
    const { modelSyncs, models } = context
    await write(context, {
      async run(unit) {
        const { now, transaction } = unit
        for (const { attempted } of asked) await modelSyncs.attempted(idOfName(sourcesSpace, attempted.name), attempted, transaction)
        const found = await modelSyncs.merge(togetherOf(asked), now, transaction)
        const retired = await modelSyncs.retire(now, transaction)
        await modelSyncs.forget(new Date(now.getTime() - keptMs), transaction)
        await tellWarnings(context, null, unit)
        const sources = sourcesThen(await modelSyncs.sources(transaction))
        return (await modelSyncs.finish(id, now, { ...found, retired, sources }, transaction)) ? { ...found, retired } : null
      },
      audit: done =>
        tenantId === null
          ? null
          : { tenantId, action: 'models.synchronised', subjectId: id, details: { sources: asked.map(({ attempted }) => attempted.name), ...done } },
      announce: () => models.forget(),
    })
  }

  /** Waits for the current run and returns its result. */
  async function joinRun(): Promise<ModelSyncRow> {
    const { modelSyncs } = job()
    const running = (await modelSyncs.running()) ?? (await modelSyncs.latest())
    const began = performance.now()
    for (let found = running; found; found = await modelSyncs.runOf(found.id)) {
      if (found.finishedAt !== null) return found
      if (performance.now() - began > runMs) break
      await new Promise(resolve => setTimeout(resolve, lookMs))
    }
    throw new DomainError('UPSTREAM_FAILED', 'A run that asks the sources of models goes on and does not end: try again in a minute or two.')
  }

  return {
    run(context, given, tenantId) {
      const names = given === null ? sourceNames : sourceNames.filter(name => given.includes(name))
      const unknown = given?.findIndex(name => !sourceNames.includes(name as SourceName)) ?? -1
      if (unknown !== -1)
        throw new DomainError('BAD_USER_INPUT', `sources[${unknown}] names no source of models: give some of ${sourceNames.join(', ')}.`, {
          field: `sources[${unknown}]`,
        })
      return run(names, context as Context, tenantId)
    },
    async runWhenDue() {
      const latest = hasStarted ? await job().modelSyncs.latest() : null
      if (latest && latest.startedAt.getTime() > clock.now().getTime() - everyMs) return
      await run(sourceNames, job(), null)
      hasStarted = true
    },
  }
}
