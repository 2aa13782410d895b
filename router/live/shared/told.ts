import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { LiveEvent, Payload } from '../../engine/engine.ts'

/** An event, or one payload of an event, in the form sent to all clients: serialized once for all of them. */
export interface Told {
  /** The result of the operation, as JSON. */
  readonly json: string
  /** The item whose latest state the event carries; null where the stream keeps none. */
  readonly about: string | null
  /** Whether it is a payload of an event whose parts come later: payloads follow up to one without `cut`. */
  readonly isPart: boolean
  /** Makes a last payload of the event for a client that received this one and goes: all open parts fail. Null where nothing follows. */
  readonly cut: ((error: GraphQLFormattedError) => Told) | null
  /** The event as the bytes that a protocol sends; created once for each protocol. */
  framed(frame: Frame): Buffer
}

/** Wraps a result's JSON in a protocol's framing. */
export type Frame = (json: string) => Buffer

/** Formats errors for clients. */
export type TellErrors = (errors: NonNullable<ExecutionResult['errors']>) => readonly GraphQLFormattedError[]

export function toldOf({ answer, about, cut }: LiveEvent, tellErrors: TellErrors): Told {
  if ('hasNext' in answer) return payloadAs(JSON.stringify(toldPayload(answer, tellErrors)), about, cut)
  const { errors, data, extensions } = answer
  const json = JSON.stringify({ ...(errors && { errors: tellErrors(errors) }), ...(data !== undefined && { data }), ...(extensions && { extensions }) })
  return toldAs(json, about, false, null)
}

function payloadAs(json: string, about: string | null, cut: LiveEvent['cut']): Told {
  const cutBy =
    cut &&
    (({ message, extensions = {} }: GraphQLFormattedError) => payloadAs(JSON.stringify(cut(new GraphQLError(message, { extensions }))), about, undefined))
  return toldAs(json, about, true, cutBy ?? null)
}

function toldAs(json: string, about: string | null, isPart: boolean, cut: Told['cut']): Told {
  const frames = new Map<Frame, Buffer>()
  return {
    json,
    about,
    isPart,
    cut,
    framed(frame) {
      let framed = frames.get(frame)
      if (framed === undefined) {
        framed = frame(json)
        frames.set(frame, framed)
      }
      return framed
    },
  }
}

/** Formats all errors of a payload for clients. */
export function toldPayload({ errors, incremental, completed, ...rest }: Payload, tell: TellErrors) {
  return {
    ...(errors && { errors: tell(errors) }),
    ...rest,
    ...(incremental && { incremental: incremental.map(entry => (entry.errors ? { ...entry, errors: tell(entry.errors) } : entry)) }),
    ...(completed && { completed: completed.map(each => (each.errors ? { ...each, errors: tell(each.errors) } : each)) }),
  }
}
