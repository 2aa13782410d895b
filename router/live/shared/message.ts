import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { LiveEvent, Payload } from '../../engine/engine.ts'

/** An event, or one payload of an event, in the form sent to all clients: serialized once for all of them. */
export interface StreamMessage {
  /** The result of the operation, as JSON. */
  readonly json: string
  /** The item whose latest state the event carries; null where the stream keeps none. */
  readonly about: string | null
  /** Whether it is a payload of an event whose parts come later: payloads follow up to one without `cut`. */
  readonly isPart: boolean
  /** Makes a last payload of the event for a client that received this one and goes: all open parts fail. Null where nothing follows. */
  readonly cut: ((error: GraphQLFormattedError) => StreamMessage) | null
  /** The event as the bytes that a protocol sends; created once for each protocol. */
  framed(frame: Frame): Buffer
}

/** Wraps a result's JSON in a protocol's framing. */
export type Frame = (json: string) => Buffer

/** Formats errors for clients. */
export type FormatErrors = (errors: NonNullable<ExecutionResult['errors']>) => readonly GraphQLFormattedError[]

/** Makes the message of an event, or of one payload of an event. @param formatErrors formats errors for clients */
export function messageOf({ answer, about, cut }: LiveEvent, formatErrors: FormatErrors): StreamMessage {
  if ('hasNext' in answer) return payloadAs(JSON.stringify(formatPayload(answer, formatErrors)), about, cut)
  const { errors, data, extensions } = answer
  const json = JSON.stringify({ ...(errors && { errors: formatErrors(errors) }), ...(data !== undefined && { data }), ...(extensions && { extensions }) })
  return serialized(json, about, false, null)
}

function payloadAs(json: string, about: string | null, cut: LiveEvent['cut']): StreamMessage {
  const cutBy =
    cut &&
    (({ message, extensions = {} }: GraphQLFormattedError) => payloadAs(JSON.stringify(cut(new GraphQLError(message, { extensions }))), about, undefined))
  return serialized(json, about, true, cutBy ?? null)
}

function serialized(json: string, about: string | null, isPart: boolean, cut: StreamMessage['cut']): StreamMessage {
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
export function formatPayload({ errors, incremental, completed, ...rest }: Payload, formatErrors: FormatErrors) {
  return {
    ...(errors && { errors: formatErrors(errors) }),
    ...rest,
    ...(incremental && { incremental: incremental.map(entry => (entry.errors ? { ...entry, errors: formatErrors(entry.errors) } : entry)) }),
    ...(completed && { completed: completed.map(each => (each.errors ? { ...each, errors: formatErrors(each.errors) } : each)) }),
  }
}
