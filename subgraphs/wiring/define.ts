import type { Logger } from 'pino'
import { NotReady } from '../../platform/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { JobQueue, Sweep } from '../../platform/jobs/queue.ts'
import { type RetentionRule, retention } from '../../platform/jobs/retention.ts'
import { answering, type Handler, type Handlers, joinHandlers } from '../http/handlers.ts'
import type { KeysOf, Recording } from '../store/books.ts'
import { type Contexts, contextsOf, type JobContextOf, type Stores } from '../store/context.ts'
import { type Facts, openFacts, type Receives } from '../store/facts.ts'
import type { FactWriting } from '../store/new-facts.ts'
import type { Foundation, Registration, Subgraph } from '../subgraph.ts'
import { executableSchema, type ResolverMap } from './executable.ts'

/** What a subgraph's services are built from, before anything runs. */
export interface Base<Job, Settings> {
  readonly foundation: Foundation
  readonly settings: Settings
  readonly log: Logger
  /** Sends wake-ups to its queues, once the subgraph is defined. */
  readonly jobs: Jobs
  /**
   * Creates the context for one piece of work of a job. Services keep this function and call it when they work, not
   * while they are created.
   * @param actor as audit entries name it: `delivery`
   */
  job(actor: string): Job
}

/** A subgraph as its nouns see it. */
export interface Running<S extends Stores, Services extends object, Settings> extends Base<JobContextOf<S, Services>, Settings> {
  readonly services: Services
  readonly contexts: Contexts<S, Services>
}

/** Whether something works that readiness depends on. */
export interface Readiness {
  /** Rejects with a `NotReady` that says what does not work. */
  check(): Promise<void>
}

/** A noun's contribution to its subgraph: all parts but `resolvers` are created once, for the subgraph. */
export interface Noun<At> {
  readonly resolvers?: ResolverMap
  queues?(at: At): readonly JobQueue[]
  sweeps?(at: At): readonly Sweep[]
  /** Retention of its tables. */
  retention?(at: At): readonly RetentionRule[]
  /** Handlers of HTTP requests, by method and path. */
  handlers?(at: At): Handlers
  readiness?(at: At): readonly Readiness[]
  /** Registers resyncs for lost events (`Events.resync`). */
  resync?(at: At): void
  /** Runs after the jobs have started. It rejects only if the subgraph cannot start. */
  start?(at: At): Promise<void>
  /** Ends running work, beside the job runner. */
  stop?(at: At): Promise<unknown>
  /** Releases resources after everything has stopped. */
  close?(at: At): void | Promise<void>
}

/** The declaration of a subgraph. */
export interface Plan<S extends Stores, Services extends object, Settings> {
  readonly registration: Registration
  /** Stores, under the names that resolvers use. */
  readonly stores: S
  /** Services for resolvers, besides the stores. */
  services(base: Base<JobContextOf<S, Services>, Settings>): Services
  /** Handlers of other subgraphs' facts. */
  readonly received: Receives<never, JobContextOf<S, Services>>
  /** Nouns by name; the names appear in messages. */
  readonly nouns: Readonly<Record<string, Noun<Running<S, Services, Settings>>>>
  /** Slow polling, as in `JobPlan`. @default false */
  readonly slowPolling?: boolean
  /** Whom an idempotency key belongs to. @default 'organization' */
  readonly keysOf?: KeysOf
  /** Writes audit entries, where the subgraph has fields of its own. */
  recording?(base: Base<JobContextOf<S, Services>, Settings>): Recording
  /** Publishes facts, where the subgraph stores some of them itself. @default publishes them as facts */
  factWriting?(facts: Facts, base: Base<JobContextOf<S, Services>, Settings>): FactWriting
  /** Handles all HTTP requests; then nouns must not have `handlers`. */
  http?(at: Running<S, Services, Settings>): Handler
  /** Paths with streamed request bodies, as in `Subgraph.streams`. */
  readonly streams?: readonly string[]
}

/** A subgraph as returned by `defineSubgraph`. */
export type DefinedSubgraph<S extends Stores, Services extends object, Settings> = Subgraph<ReturnType<Contexts<S, Services>['open']>> & {
  /** Creates contexts for demo data and tests. */
  job(actor: string): JobContextOf<S, Services>
  readonly at: Running<S, Services, Settings>
}

/**
 * Combines a subgraph from its nouns: contexts, facts, job runner with the queues and sweeps of all nouns, schema, and
 * its start, readiness and stop.
 * @throws Error when nouns contradict each other, see `executableSchema` and `joinHandlers`
 */
export function defineSubgraph<S extends Stores, Services extends object, Settings>(
  foundation: Foundation,
  settings: Settings,
  plan: Plan<S, Services, Settings>,
): DefinedSubgraph<S, Services, Settings> {
  const { registration } = plan
  const { slug } = registration
  const log = foundation.log.child({ subgraph: slug })
  // Services send jobs, and jobs work with services: the one place where something is named before it is made.
  const jobs: Jobs = {
    enqueue: (...wanted) => runner.enqueue(...wanted),
    cancel: (...wanted) => runner.cancel(...wanted),
    start: () => runner.start(),
    check: () => runner.check(),
    stop: () => runner.stop(),
  }
  const base: Base<JobContextOf<S, Services>, Settings> = { foundation, settings, log, jobs, job: (actor: string) => contexts.systemContext(actor) }
  const facts: Facts = openFacts(foundation, { slug, received: plan.received as never, job: () => base.job('facts'), log })
  const services = plan.services(base)
  const telling = plan.factWriting?.(facts, base) ?? facts
  const contexts: Contexts<S, Services> = contextsOf(slug, plan.stores, services, foundation, telling, plan.keysOf, plan.recording?.(base))
  const at: Running<S, Services, Settings> = { ...base, services, contexts }
  const nouns = Object.values(plan.nouns)
  const runner: Jobs = foundation.openJobs({
    slug,
    ...(plan.slowPolling && { slowPolling: true }),
    queues: nouns.flatMap(noun => noun.queues?.(at) ?? []),
    sweeps: [
      ...nouns.flatMap(noun => noun.sweeps?.(at) ?? []),
      ...facts.sweeps,
      retention(foundation, [...nouns.flatMap(noun => noun.retention?.(at) ?? []), ...facts.retentionRules]),
    ],
    log,
  })
  const checks = nouns.flatMap(noun => noun.readiness?.(at) ?? [])
  const http = httpOf(plan, at)
  for (const noun of nouns) noun.resync?.(at)
  async function end(): Promise<void> {
    await Promise.all([runner.stop(), facts.stop(), ...nouns.map(noun => noun.stop?.(at))])
    for (const noun of nouns) await noun.close?.(at)
  }
  let ending: Promise<void> | undefined
  const resolvers = Object.entries(plan.nouns).flatMap(([name, noun]) => (noun.resolvers ? [[name, noun.resolvers] as const] : []))
  return {
    registration,
    at,
    job: base.job,
    schema: executableSchema(slug, Object.fromEntries(resolvers)),
    open: contexts.open,
    ...(http && { http }),
    ...(plan.streams && { streams: plan.streams }),
    receive: facts.receive,
    async start() {
      await runner.start()
      for (const noun of nouns) await noun.start?.(at)
      // Logged at once, and no reason not to start: readiness says it as long as it is so.
      await Promise.all(checks.map(check => check.check())).catch(
        error => error instanceof NotReady || log.error({ err: error }, 'readiness could not be checked at the start'),
      )
    },
    async ready() {
      await Promise.all([runner.check(), ...checks.map(check => check.check())])
      return facts.undelivered()
    },
    stop() {
      ending ??= end()
      return ending
    },
  }
}

/**
 * Returns the handler of a subgraph's HTTP requests: its nouns' handlers, or its own; null where it has neither.
 * @throws Error when two nouns answer the same method and path, or a noun answers beside the subgraph
 */
function httpOf<S extends Stores, Services extends object, Settings>(plan: Plan<S, Services, Settings>, at: Running<S, Services, Settings>): Handler | null {
  const all = joinHandlers(Object.fromEntries(Object.entries(plan.nouns).map(([name, noun]) => [name, noun.handlers?.(at) ?? {}])))
  const [first] = Object.keys(all)
  if (!plan.http) return first === undefined ? null : answering(all)
  if (first !== undefined) throw new Error(`${first} of a noun of ${plan.registration.slug} is never answered: its plan answers all requests`)
  return plan.http(at)
}
