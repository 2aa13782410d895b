import { type DocumentNode, print, visit } from 'graphql'
import type { Data } from '../data/merge.ts'
import type { EngineOptions, OperationRequest } from '../engine.ts'
import type { Run } from '../execute/execute.ts'
import { planInWords } from '../execute/plan-in-words.ts'
import { actualCost } from '../shape/actual.ts'
import type { Shape, ValueShape } from '../shape/shape.ts'
import type { Ready } from './prepare.ts'

/** An addition to the answer that a request may ask for. */
type Shown = 'cost' | 'plan' | 'cache'

type Exposure = Pick<EngineOptions, 'exposePlans' | 'maxCost'>

/** Headers by which a request asks for its cost, its plan and its cached parts in the answer's `extensions`. */
export const shownHeaders = ['x-graphql-cost', 'x-graphql-plan', 'x-graphql-cache'] as const

/**
 * Returns which additions to the answer a request asks for (headers with the value `show`), limited to those that the
 * configuration exposes.
 */
export function shownTo({ headers }: Pick<OperationRequest, 'headers'>, { exposePlans, maxCost }: Exposure): readonly Shown[] {
  if (!headers) return nothing
  const cost = maxCost !== undefined && headers.get(shownHeaders[0]) === 'show'
  const plan = exposePlans && headers.get(shownHeaders[1]) === 'show'
  const cache = exposePlans && headers.get(shownHeaders[2]) === 'show'
  if (!cost && !plan && !cache) return nothing
  return [...(cost ? (['cost'] as const) : []), ...(plan ? (['plan'] as const) : []), ...(cache ? (['cache'] as const) : [])]
}

/**
 * Builds the `extensions` of an answer: the requested additions, and which mutations were replayed; undefined when
 * there is neither.
 * @param parts number of deferred parts that were sent: each costs 1
 */
export function asideOf(
  ready: Ready,
  { supergraph, data, replayed, call }: Run,
  answer: Data | null,
  exposure: Exposure,
  parts = 0,
): Record<string, unknown> | undefined {
  const shown = shownTo(ready.request, exposure)
  const { variant, variables, estimated } = ready
  const cost = estimated !== null && shown.includes('cost')
  const plan = shown.includes('plan')
  const cache = call.operation.caching?.parts
  if (!cost && !plan && !cache && replayed.size === 0) return undefined
  return {
    ...(replayed.size > 0 && { replayed: variant.shape.common.fields.filter(isAmong(replayed)).map(({ responseKey }) => responseKey) }),
    ...(cost && { cost: { estimated, actual: actualCost(variant.shape, data, answer, supergraph, variables) + parts, max: exposure.maxCost } }),
    ...(plan && { queryPlan: planInWords(variant.plan, clientNames(variant.shape)) }),
    ...(cache && { cache }),
    ...(plan && ready.request.overrides?.shown && { overrides: ready.request.overrides.shown }),
  }
}

/** Describes an operation's plan for a log, without the literal values that the client wrote into the operation. */
export const planForLog = ({ variant: { plan, shape } }: Ready): string => planInWords(plan, clientNames(shape), document => print(withoutValues(document)))

const withoutValues = (document: DocumentNode): DocumentNode =>
  visit(document, {
    StringValue: node => ({ ...node, value: '…', block: false }),
    IntValue: node => ({ ...node, value: '0' }),
    FloatValue: node => ({ ...node, value: '0' }),
  })

const isAmong =
  (keys: ReadonlySet<string>) =>
  ({ key, otherKeys }: Shape['common']['fields'][number]): boolean =>
    [key, ...otherKeys].some(each => keys.has(each))

const nothing: readonly never[] = []

/**
 * Returns the clients' names of the data's fields: plans use private names. Fields that only some types of an abstract
 * type have are not translated.
 */
function clientNames(shape: Shape): (key: string) => string {
  const names = new Map<string, string>()
  const read = ({ common }: Shape): void => {
    for (const { key, otherKeys, responseKey, value } of common.fields) {
      for (const each of [key, ...otherKeys]) names.set(each, responseKey)
      const below = objectOf(value)
      if (below) read(below)
    }
  }
  read(shape)
  return key => names.get(key) ?? key
}

const objectOf = ({ items, object }: ValueShape): Shape | null => (items ? objectOf(items) : object)
