import type { EngineOptions } from '../engine.ts'
import { planInWords } from '../execute/plan-in-words.ts'
import type { Shape, ValueShape } from '../shape/shape.ts'
import type { Ready } from './prepare.ts'

/** What stands beside an answer (`extensions`) for whoever asks by a header; undefined for who asks for nothing. */
export function asideOf({ request, variant }: Ready, { exposePlans }: Pick<EngineOptions, 'exposePlans'>): Record<string, unknown> | undefined {
  const { headers } = request
  if (!headers) return undefined
  const shows = (header: string) => headers.get(header) === 'show'
  return exposePlans && shows('x-graphql-plan') ? { queryPlan: planInWords(variant.plan, clientNames(variant.shape)) } : undefined
}

/** What clients call the fields of the data: plans know them by names of our own. Of what only some types of an abstract one have it knows nothing. */
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
