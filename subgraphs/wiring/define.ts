import type { Logger } from 'pino'
import { NotReady } from '../../platform/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { JobQueue, Sweep } from '../../platform/jobs/queue.ts'
import { type Aging, retention } from '../../platform/jobs/retention.ts'
import { answering, type Exchange, type Exchanges, joinExchanges } from '../http/exchanges.ts'
import type { KeysOf, Recording } from '../store/books.ts'
import { type Contexts, contextsOf, type JobContextOf, type Stores } from '../store/context.ts'
import { type Facts, openFacts, type Receives } from '../store/facts.ts'
import type { Telling } from '../store/tell.ts'
import type { Foundation, Registration, Subgraph } from '../subgraph.ts'
import { executableSchema, type ResolverMap } from './executable.ts'

/** What the services of a subgraph are made of, before anything of it runs. */
export interface Base<Job, Settings> {
  readonly foundation: Foundation
  readonly settings: Settings
  readonly log: Logger
  /** Wake-ups of its queues; they are sent once it is defined. */
  readonly jobs: Jobs
  /**
   * Makes what one piece of work of a job works with. Services keep it and call it once they work, not while they are made.
   * @param actor as the audit log names it: `delivery`
   */
  job(actor: string): Job
}

/** A subgraph, as its nouns find it when they tell what they bring. */
export interface Running<S extends Stores, Services extends object, Settings> extends Base<JobContextOf<S, Services>, Settings> {
  readonly services: Services
  readonly contexts: Contexts<S, Services>
}

/** Whether something works that readiness depends on. */
export interface Readiness {
  /** Rejects with a `NotReady` that says what does not work. */
  check(): Promise<void>
}

/** What a noun brings to its subgraph: all of it but `resolvers` is made once, of the subgraph that it belongs to. */
export interface Noun<At> {
  readonly resolvers?: ResolverMap
  queues?(at: At): readonly JobQueue[]
  sweeps?(at: At): readonly Sweep[]
  /** What of its tables grows old. */
  retention?(at: At): readonly Aging[]
  /** What it answers over HTTP, by method and path. */
  exchanges?(at: At): Exchanges
  readiness?(at: At): readonly Readiness[]
  /** Registers what is read again when events may have been lost (`Events.resync`). */
  resync?(at: At): void
  /** Runs once jobs do. It rejects only if the subgraph cannot start. */
  start?(at: At): Promise<void>
  /** Ends what runs, beside the job runner. */
  stop?(at: At): Promise<unknown>
  /** Frees what is open, after everything has stopped. */
  close?(at: At): void | Promise<void>
}

/** How a subgraph is put together. */
export interface Plan<S extends Stores, Services extends object, Settings> {
  readonly registration: Registration
  /** What it keeps, each store under the name by which resolvers know it. */
  readonly stores: S
  /** What resolvers work with besides. */
  services(base: Base<JobContextOf<S, Services>, Settings>): Services
  /** What it does with the facts of others. */
  readonly received: Receives<never, JobContextOf<S, Services>>
  /** Its nouns by name, for messages. */
  readonly nouns: Readonly<Record<string, Noun<Running<S, Services, Settings>>>>
  /** As `JobPlan.calm`. @default false */
  readonly calm?: boolean
  /** Whose an idempotency key is. @default 'organization' */
  readonly keysOf?: KeysOf
  /** How its audit log is written, where that knows more than everybody's. */
  recording?(base: Base<JobContextOf<S, Services>, Settings>): Recording
  /** How it tells other subgraphs, where it keeps something of that itself. @default as its facts do */
  telling?(facts: Facts, base: Base<JobContextOf<S, Services>, Settings>): Telling
  /** Answers all its requests; its nouns have no `exchanges` then. */
  http?(at: Running<S, Services, Settings>): Exchange
  /** As `Subgraph.streams`. */
  readonly streams?: readonly string[]
}

/** A subgraph as `defineSubgraph` makes it. */
export type DefinedSubgraph<S extends Stores, Services extends object, Settings> = Subgraph<ReturnType<Contexts<S, Services>['open']>> & {
  /** What demo data and tests work with. */
  job(actor: string): JobContextOf<S, Services>
  readonly at: Running<S, Services, Settings>
}

/**
 * Puts a subgraph together as the sum of its nouns: its contexts, its facts, its job runner with the queues and sweeps of all nouns, its schema,
 * and when it starts, is ready and stops.
 * @throws Error when nouns contradict each other, as `executableSchema` and `joinExchanges` say it
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
  const base: Base<JobContextOf<S, Services>, Settings> = { foundation, settings, log, jobs, job: (actor: string) => contexts.everybodys(actor) }
  const facts: Facts = openFacts(foundation, { slug, received: plan.received as never, job: () => base.job('facts'), log })
  const services = plan.services(base)
  const telling = plan.telling?.(facts, base) ?? facts
  const contexts: Contexts<S, Services> = contextsOf(slug, plan.stores, services, foundation, telling, plan.keysOf, plan.recording?.(base))
  const at: Running<S, Services, Settings> = { ...base, services, contexts }
  const nouns = Object.values(plan.nouns)
  const runner: Jobs = foundation.openJobs({
    slug,
    ...(plan.calm && { calm: true }),
    queues: nouns.flatMap(noun => noun.queues?.(at) ?? []),
    sweeps: [
      ...nouns.flatMap(noun => noun.sweeps?.(at) ?? []),
      ...facts.sweeps,
      retention(foundation, [...nouns.flatMap(noun => noun.retention?.(at) ?? []), ...facts.aging]),
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
      return facts.lying()
    },
    stop() {
      ending ??= end()
      return ending
    },
  }
}

/**
 * What answers requests of a subgraph: the exchanges of its nouns, or its plan; null where it has neither.
 * @throws Error when two nouns answer the same method and path, or a noun answers beside the plan
 */
function httpOf<S extends Stores, Services extends object, Settings>(plan: Plan<S, Services, Settings>, at: Running<S, Services, Settings>): Exchange | null {
  const all = joinExchanges(Object.fromEntries(Object.entries(plan.nouns).map(([name, noun]) => [name, noun.exchanges?.(at) ?? {}])))
  const [first] = Object.keys(all)
  if (!plan.http) return first === undefined ? null : answering(all)
  if (first !== undefined) throw new Error(`${first} of a noun of ${plan.registration.slug} is never answered: its plan answers all requests`)
  return plan.http(at)
}
