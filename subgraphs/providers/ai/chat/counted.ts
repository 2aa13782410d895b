import type { CountTokens, Sample } from '../../engines/models/engine.ts'
import { encodingOf } from '../counting/counter.ts'
import { type Picture, tokensOfPicture } from '../counting/pictures.ts'
import { sampleOf, type Written } from '../counting/sample.ts'
import type { ReportedUsage, Tokens } from './completion.ts'
import { textOf } from './messages.ts'
import type { ChatRequest } from './request.ts'

/** The part of a request that is needed for counting. It stays in memory while the answer streams, so it is short. */
export interface Asked {
  readonly sample: Sample
  readonly pictures: readonly Picture[]
  /**
   * Tokens around messages: three for each, and three before the answer
   * (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken).
   */
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

/** The counter, with the organization and the model. */
export interface Meter {
  readonly count: CountTokens
  readonly organizationId: string
  readonly model: { readonly provider: string; readonly upstream: string }
}

/** Counts the tokens of a request. */
export async function tokensAsked({ sample, pictures, frame }: Asked, { count, organizationId, model }: Meter): Promise<number> {
  const seen = pictures.reduce((sum, picture) => sum + tokensOfPicture(model, picture), 0)
  return frame + seen + (await count(organizationId, encodingOf(model), sample))
}

/**
 * Returns the tokens used: as the vendor reports, or counted here where it does not, as in an aborted stream. Each
 * piece of an answer counts at least one token.
 * @param most tokens reserved for the answer
 */
export async function tokensUsed(reported: ReportedUsage, asked: Asked, written: () => Written, most: number, meter: Meter): Promise<Tokens> {
  const { count, organizationId, model } = meter
  const counted = async (): Promise<number> => {
    const { pieces, sample } = written()
    return Math.min(most, Math.max(pieces, await count(organizationId, encodingOf(model), sample)))
  }
  const input = reported.input ?? (await tokensAsked(asked, meter))
  return { ...reported, input, output: reported.output ?? (await counted()), cached: Math.min(reported.cached, input), kept: Math.min(reported.kept, input) }
}
