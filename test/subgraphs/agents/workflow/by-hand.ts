import { createHash } from 'node:crypto'
import type { Json, PlanStep } from '../../../../subgraphs/agents/stores/workflow.ts'
import { planStep } from '../../../rules/agents/plans.ts'

/** How a call ends, or the process that makes it: before the other side has done it, or after. */
export type CallFate = 'answers' | 'no effect' | 'unclear' | 'final' | 'dies before' | 'dies after'
export type WordFate = 'APPROVE' | 'EDIT' | 'REJECT' | 'silence'
export type PolicyFate = 'allow' | 'hold, then allow' | 'deny' | 'mismatch' | 'silence'

/** A tool that a model wants called; one that it does not have is not. */
export type WantedTool = 'create_note' | 'send_letter' | 'create_note, asked for' | 'none'
const wantedTools: readonly WantedTool[] = ['create_note', 'send_letter', 'send_letter', 'create_note, asked for', 'none']
/** The one step of the run in which such a tool is called. */
const toolKey = 'action'
/** In the order in which the database gives them back. */
export const wantedArguments = (key: string, place: number) => ({ of: key, text: `${place} of ${key}` })

const weighted = <Fate extends string>(weights: Readonly<Record<Fate, number>>): readonly Fate[] =>
  (Object.entries(weights) as [Fate, number][]).flatMap(([fate, weight]) => Array.from({ length: weight }, () => fate))
const callFates = weighted<CallFate>({ answers: 12, 'no effect': 3, unclear: 2, final: 1, 'dies before': 2, 'dies after': 2 })
const wordFates = weighted<WordFate>({ APPROVE: 6, EDIT: 2, REJECT: 1, silence: 2 })
const policyFates = weighted<PolicyFate>({ allow: 5, 'hold, then allow': 3, deny: 1, mismatch: 1, silence: 1 })

/** What the world does to each thing that runs of one tale do: the same whenever, by whomever and how often it is asked. */
export class Fates {
  private readonly seed: number
  constructor(seed: number) {
    this.seed = seed
  }
  private number(...parts: readonly (string | number)[]): number {
    return createHash('sha256')
      .update(JSON.stringify([this.seed, ...parts]))
      .digest()
      .readUInt32BE()
  }
  private pick = <Fate>(fates: readonly Fate[], ...parts: readonly (string | number)[]): Fate => fates[this.number(...parts) % fates.length]!
  call = (path: string, key: string, attempt: number, tries: number): CallFate => this.pick(callFates, 'call', path, key, attempt, tries)
  /** Who is asked about a tool that a model wants called has three days, and decides about what it wants. */
  word = (path: string, key: string, attempt: number): WordFate => {
    const word = this.pick(wordFates, 'word', path, key, attempt)
    return key !== toolKey ? word : word === 'EDIT' ? 'APPROVE' : word === 'silence' ? 'REJECT' : word
  }
  /** The tools that the model of a step wants called, round by round. */
  rounds = (key: string): readonly (readonly WantedTool[])[] =>
    Array.from({ length: this.number('rounds', key) % 3 }, (_, round) =>
      Array.from({ length: 1 + (this.number('calls', key, round) % 3) }, (__, at) => this.pick(wantedTools, 'tool', key, round, at)),
    )
  policy = (path: string, key: string, attempt: number): PolicyFate => this.pick(policyFates, 'policy', path, key, attempt)
  /** Whether a person finds that a step whose outcome is unknown has happened. */
  happened = (key: string, attempt: number): boolean => this.number('happened', key, attempt) % 2 === 0
  /** Whether somebody retries a run that has failed so often. */
  retries = (failures: number): boolean => failures <= 2 && this.number('retries', failures) % 3 > 0
}

/** What a run shows of itself in the end. */
export interface Shown {
  readonly status: 'SUCCEEDED' | 'FAILED'
  readonly code: string | null
  readonly output: Json
  /** Calls in their order. */
  readonly calls: readonly string[]
  /** What it wrote and whom it asked, each once. */
  readonly wrote: readonly string[]
  readonly asked: readonly string[]
}

/** The output of a step that a person says has happened. */
export const resolvedOutput = { resolved: true } as const
export const editedArguments = { text: 'edited' } as const
export const callLine = (key: string, attempt: number, tries: number, given: Json): string => `${key} ${attempt}.${tries} ${JSON.stringify(given)}`

/** What is known of the runs beside the tale. */
export interface Known {
  readonly fates: Fates
  readonly planOf: ReadonlyMap<string, readonly PlanStep[]>
  mayRepeat(step: PlanStep): boolean
  /** Of a list step's attempt: how many of its items have begun, which after a failure depends on how quick they were. */
  began(key: string, attempt: number): readonly number[]
}

interface Hand {
  readonly known: Known
  readonly path: string
  readonly input: { readonly word: string; readonly lists?: readonly (readonly string[])[] }
  readonly calls: string[]
  readonly wrote: string[]
  readonly asked: string[]
  /** What the runs below it show, by their path. */
  readonly below: Map<string, Shown>
  /** Paths of runs below of which a person has found what became of their last step. */
  readonly resolved: Set<string>
  /** Of steps that ask a model: how many rounds of calls were begun. */
  readonly rounds: Map<string, number>
}

type Ended = { readonly output: Json } | { readonly code: string; readonly isRefused?: boolean }

/** Runs a plan as one would by hand: no time, no waits, no rows. */
export function byHand(plan: readonly PlanStep[], known: Known, path: string, input: Hand['input']): Shown & Pick<Hand, 'below'> {
  const hand: Hand = { known, path, input, calls: [], wrote: [], asked: [], below: new Map(), resolved: new Set(), rounds: new Map() }
  const attempts = new Map<string, number>()
  const { calls, wrote, asked, below } = hand
  let [output, failures] = [null as Json, 0]
  const over = (status: Shown['status'], code: string | null) => ({ status, code, output: code === null ? output : null, calls, wrote, asked, below })
  for (let at = 0; at < plan.length; ) {
    const step = plan[at]!
    const attempt = attempts.get(step.key) ?? 1
    const end = stepByHand(hand, step, attempt)
    let next = step.next
    if ('output' in end) {
      output = end.output
      if (step.kind === 'BRANCH' && end.output === false) {
        if (step.otherwise === null) return over('SUCCEEDED', null)
        next = step.otherwise
      }
    } else if (end.isRefused && step.otherwise !== null) next = step.otherwise
    else {
      failures += 1
      // Somebody looks after the outer run alone.
      if (path !== '') return over('FAILED', end.code)
      if (end.code === 'OUTCOME_UNKNOWN' && known.fates.happened(step.key, attempt)) output = resolvedOutput
      else {
        if (!known.fates.retries(failures)) return over('FAILED', end.code)
        resolveBelow(hand, step.key)
        attempts.set(step.key, attempt + 1)
        output = null
        continue
      }
    }
    if (next === 'end') return over('SUCCEEDED', null)
    at = next === null ? at + 1 : plan.findIndex(({ key }) => key === next)
  }
  return over('SUCCEEDED', null)
}

/** Before a step is repeated, a person finds out what became of the runs that it has begun: each whose last call happened has succeeded with it. */
function resolveBelow({ known, below: all, resolved }: Hand, key: string): void {
  for (const [path, shown] of all) {
    if (shown.code !== 'OUTCOME_UNKNOWN' || resolved.has(path) || !(path.startsWith(`${key}.`) || path.startsWith(`${key}#`))) continue
    resolved.add(path)
    if (known.fates.happened(path, 1)) all.set(path, { ...shown, status: 'SUCCEEDED', code: null, output: resolvedOutput })
  }
}

function stepByHand(hand: Hand, step: PlanStep, attempt: number): Ended {
  const { known, path, input, wrote } = hand
  const { key } = step
  const text = `${key} of ${input.word}`
  switch (step.kind) {
    case 'REPORT':
      wrote.push(key)
      return { output: { text } }
    case 'DELAY':
      return { output: null }
    case 'BRANCH':
      return { output: step.condition!.left === step.condition!.right }
    case 'MODEL':
      return modelByHand(hand, step, attempt, { prompt: text })
    case 'RUN': {
      const before = hand.below.get(`${key}#${attempt - 1}`)
      if (before?.status === 'SUCCEEDED') return { output: before.output }
      const shown = below(hand, step, `${key}#${attempt}`, input.word)
      return shown.status === 'SUCCEEDED' ? { output: shown.output } : { code: 'CHILD_FAILED' }
    }
    case 'MAP':
      return listByHand(hand, step, attempt)
  }
  const gated = step.gate ? gateByHand(hand, step, attempt, { text }) : { given: { text } as Json }
  if (!('given' in gated)) return gated
  if (step.kind === 'APPROVAL') return { output: { decision: gated.decision!, response: null, arguments: gated.given } }
  if (step.counterparty !== null) {
    const fate = known.fates.policy(path, key, attempt)
    if (fate === 'deny') return { code: 'POLICY_DENIED', isRefused: true }
    if (fate === 'silence') return { code: 'POLICY_EXPIRED', isRefused: true }
    if (fate === 'mismatch') return { code: 'POLICY_MISMATCH' }
  }
  return callByHand(hand, step, attempt, gated.given)
}

/** A model has its calls made round by round; what was called is never called again, and what is unclear is looked at first. */
function modelByHand(hand: Hand, step: PlanStep, attempt: number, given: Json): Ended {
  const { known, rounds, below: all, resolved } = hand
  const { key } = step
  const wanted = known.fates.rounds(key)
  const placeOf = (round: number) => wanted.slice(0, round).flat().length
  const isUnclear = (round: number) => {
    const [from, to] = [placeOf(round), placeOf(round + 1)]
    const isOfRound = (path: string) => {
      const place = Number(path.slice(key.length + 1).split('#')[0])
      return path.startsWith(`${key}.`) && place >= from && place < to
    }
    return [...all].some(([path, { code }]) => isOfRound(path) && code === 'OUTCOME_UNKNOWN' && !resolved.has(path))
  }
  for (;;) {
    const round = rounds.get(key) ?? 0
    if (round > 0 && isUnclear(round - 1)) return { code: 'CHILD_FAILED' }
    const ended = callByHand(hand, step, attempt, given, `${key}~${round}`)
    if (!('output' in ended) || round === wanted.length) return ended
    for (const [at, tool] of wanted[round]!.entries()) if (tool !== 'none') toolByHand(hand, step, attempt, placeOf(round) + at, tool)
    rounds.set(key, round + 1)
  }
}

/** The run of a tool that a model wants called. */
function toolByHand({ known, below: all }: Hand, { key, retries }: PlanStep, attempt: number, place: number, tool: WantedTool): void {
  const path = `${key}.${place}#${attempt}`
  const [calls, asked] = [[] as string[], [] as string[]]
  const hand = { known, path, input: { word: '' }, calls, wrote: [], asked, below: new Map(), resolved: new Set<string>(), rounds: new Map() }
  const step = planStep('TOOL', toolKey, { tool: tool.split(',')[0]!, retries })
  const gated = tool === 'create_note, asked for' ? gateByHand(hand, step, 1, wantedArguments(key, place)) : { given: wantedArguments(key, place) }
  const ended = 'given' in gated ? callByHand(hand, step, 1, gated.given) : gated
  const code = 'code' in ended ? ended.code : null
  all.set(path, { status: code === null ? 'SUCCEEDED' : 'FAILED', code, output: 'output' in ended ? ended.output : null, calls, wrote: [], asked })
}

function gateByHand({ known, path, asked }: Hand, { key, gate }: PlanStep, attempt: number, given: Json): Ended | { given: Json; decision?: string } {
  asked.push(key)
  const word = known.fates.word(path, key, attempt)
  if (word === 'REJECT') return { code: 'APPROVAL_REJECTED', isRefused: true }
  if (word === 'silence') return gate!.onExpiry === 'REJECT' ? { code: 'APPROVAL_EXPIRED', isRefused: true } : { given, decision: 'APPROVE' }
  return { given: word === 'EDIT' ? editedArguments : given, decision: word }
}

function callByHand({ known, path, calls }: Hand, step: PlanStep, attempt: number, given: Json, name = step.key): Ended {
  for (let tries = 1; ; tries += 1) {
    calls.push(callLine(name, attempt, tries, given))
    const fate = known.fates.call(path, name, attempt, tries)
    if (fate === 'answers') return { output: { done: step.key } }
    if (fate === 'final') return { code: 'TOOL_ERROR' }
    const hasDied = fate === 'dies before' || fate === 'dies after'
    if (!known.mayRepeat(step) && fate !== 'no effect') return { code: 'OUTCOME_UNKNOWN' }
    if (!hasDied && tries > step.retries) return { code: 'UPSTREAM_FAILED' }
  }
}

function below({ known, below: all }: Hand, step: PlanStep, path: string, word: string): Shown {
  const { below: _, ...shown } = byHand(known.planOf.get(step.workflowId!)!, known, path, { word })
  all.set(path, shown)
  return shown
}

/** Each item that has not succeeded runs again; which begin after one has failed is open, unless failures are skipped. */
function listByHand(hand: Hand, step: PlanStep, attempt: number): Ended {
  const { known, input, below: all } = hand
  const list = input.lists![Number(/(\d)\}\}$/.exec(step.list!)![1])]!
  const pathOf = (index: number, of: number) => `${step.key}.${index}#${of}`
  const attempts = Array.from({ length: attempt }, (_, at) => at + 1)
  const shownOf = (index: number) =>
    attempts.map(of => all.get(pathOf(index, of))).find(shown => shown?.status === 'SUCCEEDED') ?? all.get(pathOf(index, attempt))
  const open = list.flatMap((_, index) => (shownOf(index)?.status === 'SUCCEEDED' ? [] : [index]))
  const began = step.onItemFailure === 'SKIP' ? open : known.began(step.key, attempt)
  if (JSON.stringify(began) !== JSON.stringify(open.slice(0, began.length))) throw new Error(`items ${began} have begun, of ${open} in this order`)
  for (const index of began) below(hand, step, pathOf(index, attempt), list[index]!)
  const failed = list.some((_, index) => shownOf(index)?.status !== 'SUCCEEDED')
  const hasReason = began.some(index => shownOf(index)!.status === 'FAILED')
  if (failed && step.onItemFailure !== 'SKIP') {
    if (!hasReason) throw new Error(`items ${open.slice(began.length)} never began, although none has failed`)
    return { code: 'CHILD_FAILED' }
  }
  return { output: list.map((_, index) => (shownOf(index)?.status === 'SUCCEEDED' ? shownOf(index)!.output : null)) }
}
