import type { Call, Reply } from '../network.ts'
import { openaiModels, type PlayedModel } from './catalogue.ts'
import { refuse } from './openai-problems.ts'
import type { Body, Stall } from './taken.ts'

/** A call that carries a key, with its parsed body. */
export interface Asked {
  readonly stall: Stall
  readonly call: Call
  readonly key: string
  readonly body: Body
}

/** A valid call and how it is answered. */
export interface InOrder {
  take(): Reply
  /** The answer that never ends, for the fault of that name. */
  readonly endless?: (() => Reply) | undefined
}

/** Whether a call was refused already. */
export const isReply = (value: object): value is Reply => 'status' in value

/** Returns the model that a call names if that model supports the call's kind of work; else the refusal. */
export function modelOf(body: Body, does: PlayedModel['does']): PlayedModel | Reply {
  if (typeof body.model !== 'string' || body.model === '') return refuse(400, 'you must provide a model parameter')
  const found = openaiModels.find(({ id, snapshot }) => id === body.model || snapshot === body.model)
  if (!found) return refuse(404, `The model \`${body.model}\` does not exist or you do not have access to it.`, { code: 'model_not_found' })
  return found.does === does ? found : refuse(404, `This model is not supported here: ${body.model}.`, { param: 'model' })
}
