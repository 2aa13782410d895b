import type { CountTokens, Sample } from '../../engines/models/engine.ts'
import { encodingOf } from '../counting/counter.ts'
import { type Picture, tokensOfPicture } from '../counting/pictures.ts'
import { sampleOf, type Written } from '../counting/sample.ts'
import type { Tokens, Told } from './completion.ts'
import { textOf } from './messages.ts'
import type { ChatRequest } from './request.ts'

/** As much of what was asked as is needed to count it: it is kept for as long as its answer goes on, and is never long. */
export interface Asked {
  readonly sample: Sample
  readonly pictures: readonly Picture[]
  /** Tokens around messages: three for each, and three before the answer (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken). */
  readonly frame: number
}

export function askedOf({ messages, tools, responseFormat, pictures }: ChatRequest): Asked {
  const said = messages.flatMap(message => {
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
    return [textOf(message.content), ...calls.flatMap(({ function: { name, arguments: given } }) => [name, given])]
  })
  const offered = tools.flatMap(({ name, description, parameters }) => [name, description ?? '', parameters ? JSON.stringify(parameters) : ''])
  const form = responseFormat?.type === 'json_schema' ? [JSON.stringify(responseFormat.schema)] : []
  return { sample: sampleOf([...said, ...offered, ...form].filter(text => text !== '')), pictures, frame: 3 * messages.length + 3 }
}

/** Who counts, for whom, and as which model. */
export interface Meter {
  readonly count: CountTokens
  readonly organizationId: string
  readonly model: { readonly provider: string; readonly upstream: string }
}

/** How many tokens a request is. */
export async function tokensAsked({ sample, pictures, frame }: Asked, { count, organizationId, model }: Meter): Promise<number> {
  const seen = pictures.reduce((sum, picture) => sum + tokensOfPicture(model, picture), 0)
  return frame + seen + (await count(organizationId, encodingOf(model), sample))
}

/**
 * What was used: as the vendor says, and counted here where it says it not in numbers, as in a stream that was left. Each piece of an answer
 * is a token at least.
 * @param most what was held back for the answer
 */
export async function tokensUsed(told: Told, asked: Asked, written: () => Written, most: number, meter: Meter): Promise<Tokens> {
  const { count, organizationId, model } = meter
  const counted = async (): Promise<number> => {
    const { pieces, sample } = written()
    return Math.min(most, Math.max(pieces, await count(organizationId, encodingOf(model), sample)))
  }
  const input = told.input ?? (await tokensAsked(asked, meter))
  return { ...told, input, output: told.output ?? (await counted()), cached: Math.min(told.cached, input), kept: Math.min(told.kept, input) }
}
