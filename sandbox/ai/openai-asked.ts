import type { Call, Reply } from '../network.ts'
import { openaiModels, type PlayedModel } from './catalogue.ts'
import { refuse } from './openai-problems.ts'
import type { Body, Stall } from './taken.ts'

/** A call that a key came with, and what it says. */
export interface Asked {
  readonly stall: Stall
  readonly call: Call
  readonly key: string
  readonly body: Body
}

/** A call that is in order: how it is taken. */
export interface InOrder {
  take(): Reply
  /** Its answer that never ends. */
  readonly endless?: (() => Reply) | undefined
}

/** Whether a call was refused already. */
export const isReply = (value: object): value is Reply => 'status' in value

/** The model that a call names, if it does what the call wants of it. */
export function modelOf(body: Body, does: PlayedModel['does']): PlayedModel | Reply {
  if (typeof body.model !== 'string' || body.model === '') return refuse(400, 'you must provide a model parameter')
  const found = openaiModels.find(({ id, snapshot }) => id === body.model || snapshot === body.model)
  if (!found) return refuse(404, `The model \`${body.model}\` does not exist or you do not have access to it.`, { code: 'model_not_found' })
  return found.does === does ? found : refuse(404, `This model is not supported here: ${body.model}.`, { param: 'model' })
}
